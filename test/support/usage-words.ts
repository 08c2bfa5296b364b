import { canonicalModel } from "../../domain/gpu-model/names.ts";
import type { UsageHour } from "../../domain/allocation/usage-hour.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { cutsOf } from "./reference/bill.ts";
import { meterScenario } from "./reference/meter.ts";

/** Rows of the meter in a comparable form, sorted. */
export function usageWords(hours: readonly UsageHour[]): readonly string[] {
  return hours
    .flatMap(({ node, slot, segment, holders }) => {
      const { fromMillis, untilMillis, gpu, unavailableBecause, isCordoned, busyMillis, energy, claims } = segment;
      const { model, layout } = gpu;
      const of = `${node}/${slot} ${time(fromMillis)}–${time(untilMillis)}`;
      return [
        `${of} ${model} ${json(layout)} ${unavailableBecause} ${isCordoned} ${busyMillis} ${json(energy)}`,
        ...claims.map(({ claim, stage, measured }, index) => {
          const { namespace, name } = holders[index]!;
          return `${of} ${namespace}/${name} ${json(claim.held)} ${stage} ${json(measured)}`;
        }),
      ];
    })
    .toSorted();
}

/** The same form of the plain reference's rows. */
export function referenceWords(scenario: Scenario): readonly string[] {
  return meterScenario(scenario, cutsOf(scenario))
    .flatMap(({ node, index, segments }) =>
      segments.flatMap((segment) => {
        const { fromMillis, untilMillis, gpu, unavailableBecause, isCordoned, busyMillis, energy, claims, pods } =
          segment;
        const of = `${node.name}/${index} ${time(fromMillis)}–${time(untilMillis)}`;
        return [
          `${of} ${canonicalModel(gpu.model ?? "")} ${json(gpu.layout)} ${unavailableBecause} ${isCordoned} ${busyMillis} ${json(energy)}`,
          ...claims.map(({ claim, stage, measured }, place) => {
            const { namespace, name, hpcJob } = pods[place]!;
            const who = hpcJob === undefined ? `${namespace}/${name}` : `/${hpcJob}`;
            return `${of} ${who} ${json(claim.held)} ${stage} ${json(measured)}`;
          }),
        ];
      }),
    )
    .toSorted();
}

function time(millis: number): string {
  return new Date(millis).toISOString();
}

/** JSON with sorted keys, and with big integers as digits. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one === "bigint") return String(one);
    if (typeof one !== "object" || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
