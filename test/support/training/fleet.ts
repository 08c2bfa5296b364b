import { computeWindow } from "../../../processors/ledger/rollup/rollups.ts";
import { newRunId } from "../../../processors/ledger/runs/runs.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { TrainingMarks } from "../../../domain/training-marks.ts";
import type { NodeCondition } from "../../../domain/inventory.ts";
import { slicesOf } from "../../../runtime/in-turns.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { MESSAGES_PER_INSERT } from "../play.ts";
import { playScenario } from "../play-ledger.ts";
import { scenarioWith } from "../played.ts";
import { withChanges, type FactChange } from "./play.ts";
import { clock } from "./pods.ts";

const at = (text: string): string => new Date(clock(text)).toISOString();

/** A pod of the gang `llama` of the team vision. */
function worker(
  name: string,
  node: string,
  device: number,
  times: readonly [string, string, string],
  phase: string,
): Readonly<Record<string, unknown>> {
  const [scheduled, started, finished] = times.map(at);
  return {
    name,
    namespace: "vision",
    node,
    holds: { gpus: 1 },
    devices: [device],
    workload: { kind: "JobSet", name: "llama" },
    scheduled,
    started,
    finished,
    phase,
    activity: 1,
  };
}

const FIRST = ["08:00", "08:05", "10:00"] as const;
const SECOND = ["10:02", "10:12", "12:00"] as const;

/**
 * A gang of four and a job of one pod, at 3.60 an hour: a GPU-minute costs 0.06.
 *
 * The gang llama of vision: XID 79 hits GPU 0 of gpu-b at 09:50, the pods fail at 10:00, and new pods start at 10:02.
 *   08:00 to 08:05  starting                     4 × 5 × 0.06 =  1.20
 *   08:05 to 09:20  productive, then checkpoint 4 × 75 × 0.06 = 18.00
 *   09:20 to 09:50  lost progress               4 × 30 × 0.06 =  7.20
 *   09:50 to 10:00  recovering                  3 × 10 × 0.06 =  1.80, and GPU 0 of gpu-b is unavailable: 0.60
 *   10:02 to 10:12  recovering                  4 × 10 × 0.06 =  2.40
 *   10:12 to 12:00  productive                 4 × 108 × 0.06 = 25.92
 * GPU 0 of gpu-b is unavailable until 12:00: 130 × 0.06 = 7.80.
 *
 * The job eval of nlp is evicted at 09:00, and comes again at 09:10. Checkpoints every 30 minutes are configured, and none is reported.
 *   08:00 to 08:45  productive                      45 × 0.06 =  2.70
 *   08:45 to 09:00  lost progress, estimated        15 × 0.06 =  0.90
 *   09:10 to 09:15  recovering                       5 × 0.06 =  0.30
 *   09:15 to 11:00  productive                     105 × 0.06 =  6.30
 */
export const TRAINING_FLEET = scenarioWith({
  period: { start: at("08:00"), end: at("12:00") },
  nodes: [
    { name: "gpu-a", model: "NVIDIA-H100-80GB-HBM3", gpus: 2 },
    {
      name: "gpu-b",
      model: "NVIDIA-H100-80GB-HBM3",
      gpus: 2,
      unavailable: [{ gpus: [0], from: at("09:50"), until: at("12:00"), because: "xid-79" }],
    },
    { name: "gpu-c", model: "NVIDIA-H100-80GB-HBM3", gpus: 1 },
    { name: "gpu-d", model: "NVIDIA-L4", gpus: 1 },
  ],
  namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
  pods: [
    worker("llama-0", "gpu-a", 0, FIRST, "Failed"),
    worker("llama-1", "gpu-a", 1, FIRST, "Failed"),
    {
      ...worker("llama-2", "gpu-b", 0, FIRST, "Failed"),
      activity: [
        { until: at("09:50"), ratio: 1 },
        { from: at("09:50"), ratio: 0 },
      ],
    },
    worker("llama-3", "gpu-b", 1, FIRST, "Failed"),
    worker("llama-0", "gpu-a", 0, SECOND, "Succeeded"),
    worker("llama-1", "gpu-a", 1, SECOND, "Succeeded"),
    worker("llama-2", "gpu-c", 0, SECOND, "Succeeded"),
    worker("llama-3", "gpu-b", 1, SECOND, "Succeeded"),
    {
      ...worker("eval-x", "gpu-d", 0, ["08:00", "08:00", "09:00"], "Evicted"),
      namespace: "nlp",
      workload: { kind: "Job", name: "eval" },
    },
    {
      ...worker("eval-y", "gpu-d", 0, ["09:10", "09:15", "11:00"], "Succeeded"),
      namespace: "nlp",
      workload: { kind: "Job", name: "eval" },
    },
  ],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.60" }],
  policies: [{ name: "default" }, { name: "by-usage", basis: "usage", payers: { starting: "platform" } }],
});

/** The configuration of the reports about {@link TRAINING_FLEET}, in YAML. */
export const TRAINING_CONFIG = `
prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.60" }]
policies: [{ name: default, billing: true }, { name: by-usage, keep: true, basis: usage, payers: { starting: platform } }]
training: { checkpointInterval: 30m }
`;

const READY: NodeCondition = { type: "Ready", status: "True", reason: "KubeletReady", since: clock("08:00") };
const XID_CONDITION: NodeCondition = { type: "SysLogsXIDError", status: "True", reason: "XID", since: clock("09:51") };

/**
 * The reports of rank 0 of llama, for a model of 3.5 × 10^9 parameters with 10^6 tokens in a step. NVSentinel sets a condition, and the
 * driver of gpu-b is known from then on.
 */
const CHANGES: readonly FactChange[] = [
  report("08:05", { step: 0, tokensPerStep: 1_000_000, parameters: 3_500_000_000 }),
  report("09:20", { step: 562, checkpointAt: clock("09:20"), tokensPerStep: 1_000_000, parameters: 3_500_000_000 }),
  report("11:59", { step: 1_000, checkpointAt: clock("11:59") }),
  { node: "gpu-b", at: clock("09:51"), change: { conditions: [READY, XID_CONDITION], driverVersion: "570.86.10" } },
];

function report(time: string, training: TrainingMarks): FactChange {
  return { pod: "llama-0", at: clock(time), change: { training } };
}

/** Plays the fleet in a store: facts, samples, rollups and charges under both policies. */
export async function playTrainingFleet(store: StoreClient): Promise<void> {
  await playScenario(store, TRAINING_FLEET, {
    deliver: (messages) => ({ first: slicesOf(withChanges(messages, CHANGES), MESSAGES_PER_INSERT), late: [] }),
  });
  for (let windowStart = clock("08:00"); windowStart < clock("12:00"); windowStart += HOUR_MILLIS) {
    const of = { cluster: "default", windowStart, runId: newRunId(), generation: 1_000 };
    await computeWindow(store, { ...of, watermark: new Map(), publishedAt: clock("12:00") });
  }
}
