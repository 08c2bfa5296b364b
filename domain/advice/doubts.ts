import { DAY_MILLIS } from "../time.ts";
import { coverageOf, devicesOf, type WorkloadEvidence } from "./evidence.ts";
import { counted } from "../counted.ts";
import { percent, type RuleContext } from "./rule.ts";

const SURE_COVERAGE = 0.98;
const SURE_DAYS = 14;

/** Returns the reasons why the evidence of a workload is not surer. */
export function doubtsOf(workload: WorkloadEvidence, { window }: RuleContext): readonly string[] {
  const coverage = coverageOf(workload.hours);
  const days = Math.round((window.until - window.from) / DAY_MILLIS);
  const hasProfiling = devicesOf(workload).every(({ stats }) => stats?.sm95 !== undefined);
  return [
    ...(coverage < SURE_COVERAGE ? [`Only ${percent(coverage)} of the held time has samples.`] : []),
    ...(days < SURE_DAYS
      ? [`The evidence is from ${counted(days, "day")}. Peaks that come once a month are not in it.`]
      : []),
    ...(hasProfiling
      ? []
      : [
          "The exporter has no profiling counters. Activity only shows that some kernel ran, not how well it used the GPU.",
        ]),
  ];
}
