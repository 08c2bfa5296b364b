import { HOUR_MILLIS } from "../../time.ts";
import { counted } from "../../counted.ts";
import { percent, subjectOf, whereOf, type WorkloadRule } from "../rule.ts";

/** The least waiting that is worth a card: GPU-hours, and the part of the held time. */
const LEAST_GPU_HOURS = 1;
const LEAST_PART = 0.02;

/**
 * Finds jobs whose pods held GPUs while other pods of the gang waited. The time comes from Kubernetes' facts alone, so missing samples do not
 * matter.
 */
export const waitingGang: WorkloadRule = (workload, { window }) => {
  const total = (of: "waitingMillis" | "heldMillis"): number => workload.hours.reduce((sum, hour) => sum + hour[of], 0);
  const [waiting, held] = [total("waitingMillis"), total("heldMillis")];
  if (waiting < LEAST_GPU_HOURS * HOUR_MILLIS || waiting < held * LEAST_PART) return [];
  return [
    {
      kind: "waiting-gang",
      subject: subjectOf(workload),
      from: window.from,
      changes: [{ release: { ...whereOf(workload), stage: "waiting" } }],
      figures: [
        { name: "Held while waiting", value: `${(waiting / HOUR_MILLIS).toFixed(1)} GPU-hours` },
        { name: "Of the held time", value: percent(waiting / held) },
        { name: "Pods", value: counted(workload.pods.length, "pod") },
      ],
      remedy: {
        what: "Admit the pods of the job together: with Kueue, or with a scheduler that has gangs.",
        lines: ["metadata:", "  labels:", "    kueue.x-k8s.io/queue-name: QUEUE", "spec:", "  suspend: true"].join(
          "\n",
        ),
      },
      risks: ["A job that is admitted as a whole waits longer in the queue if the cluster is full."],
      doubts: [],
    },
  ];
};
