import { DAY_MILLIS, HOUR_MILLIS } from "../time.ts";
import type { Proposal, Refusal } from "./card.ts";
import { coverageOf, runningMillis, type WorkloadEvidence } from "./evidence.ts";
import type { RuleContext, WorkloadRule } from "./rule.ts";
import { fewerReplicas } from "./rules/fewer-replicas.ts";
import { idleWorkload } from "./rules/idle-workload.ts";
import { offHours } from "./rules/off-hours.ts";
import { smallerModel } from "./rules/smaller-model.ts";
import { smallerPart } from "./rules/smaller-part.ts";
import { spot } from "./rules/spot.ts";
import { unusedGpus } from "./rules/unused-gpus.ts";
import { waitingGang } from "./rules/waiting-gang.ts";

/** The rules that read measurements. Each has the same demands on the evidence. */
const BY_SAMPLES: readonly WorkloadRule[] = [
  idleWorkload,
  unusedGpus,
  fewerReplicas,
  offHours,
  smallerPart,
  smallerModel,
  spot,
];

/** The rules that read facts of Kubernetes alone. */
const BY_FACTS: readonly WorkloadRule[] = [waitingGang];

/** The proposals for a workload, and the reasons why others were not made. */
export interface Judged {
  readonly proposals: readonly Proposal[];
  readonly refusals: readonly Refusal[];
}

/**
 * Judges a workload by every rule. A workload without enough evidence has no proposal by samples: it must have held GPUs for all days of the
 * window, and samples must cover its running time. An idle workload has no other proposal, because it should end.
 */
export function judge(workload: WorkloadEvidence, context: RuleContext): Judged {
  const found = BY_FACTS.map((rule) => rule(workload, context));
  const lack = lackOf(workload, context);
  if (lack !== undefined) return judgedOf([...found, lack]);
  for (const rule of BY_SAMPLES) {
    const ofRule = rule(workload, context);
    found.push(ofRule);
    if (rule === idleWorkload && typeof ofRule !== "string" && ofRule.length > 0) break;
  }
  return judgedOf(found);
}

function judgedOf(found: readonly (readonly Proposal[] | Refusal)[]): Judged {
  return {
    proposals: found.flatMap((each) => (typeof each === "string" ? [] : each)),
    refusals: [...new Set(found.filter((each) => typeof each === "string"))],
  };
}

function lackOf({ hours, firstAt, lastAt }: WorkloadEvidence, { window, coverage }: RuleContext): Refusal | undefined {
  // A pod that came within the first hour of the window has held for all of its days.
  const days = Math.round((window.until - window.from) / DAY_MILLIS);
  if (lastAt - firstAt < days * DAY_MILLIS - HOUR_MILLIS) return "days";
  if (hours.every((hour) => runningMillis(hour) === 0)) return "unstarted";
  return coverageOf(hours) < coverage ? "coverage" : undefined;
}
