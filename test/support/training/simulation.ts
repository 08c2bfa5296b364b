import fc from "fast-check";
import type { HeldState } from "../../../domain/allocation/allocate.ts";
import { lastUnits } from "../../../domain/exact/units.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";
import type { LaneCharge, RunAmounts } from "../../../domain/training/bill.ts";
import type { RunPhase } from "../../../domain/training/phases.ts";
import type { ProgressPoint } from "../../../domain/training/progress.ts";
import type { EndReason, WorkloadFact } from "../../../domain/workload.ts";
import { workloadFact } from "../facts.ts";

/** All times of a simulation are multiples of this. 9 s of a GPU are exactly 0.0025 GPU-hours, and 0.009 at 3.60 an hour. */
export const UNIT = 9_000;
const START = Date.UTC(2026, 2, 2, 5) + 7 * UNIT;

/** The plan of a simulated run. Durations are in units of {@link UNIT}. */
export interface RunPlan {
  readonly pods: number;
  readonly gpus: number;
  /** Tenths of the time of a running pod in which its GPUs are active, and tenths without telemetry. */
  readonly activeTenths: number;
  readonly unobservedTenths: number;
  readonly checkpointEvery: number;
  /** How long training stands still for a checkpoint. */
  readonly checkpointFor: number;
  /** The source from which the loss can be known. */
  readonly evidence: "checkpoint" | "step" | "percent" | "none";
  /** The last attempt succeeds; otherwise it fails like the others. */
  readonly succeeds: boolean;
  /** Each attempt ends with the failure of a pod, if it does not succeed. */
  readonly attempts: readonly {
    readonly gapBefore: number;
    /** For each pod, the time to its binding, from there to its start, and from the failure to its end. */
    readonly bind: readonly number[];
    readonly start: readonly number[];
    readonly teardown: readonly number[];
    readonly trains: number;
    readonly failing: number;
  }[];
}

const MOST_PODS = 5;
const perPod = (max: number) => fc.array(fc.nat(max), { minLength: MOST_PODS, maxLength: MOST_PODS });

/** Plans of runs of a gang with up to four failures. */
export const runPlan: fc.Arbitrary<RunPlan> = fc.record({
  pods: fc.integer({ min: 1, max: MOST_PODS }),
  gpus: fc.constantFrom(1, 8),
  activeTenths: fc.integer({ min: 1, max: 8 }),
  unobservedTenths: fc.nat(2),
  checkpointEvery: fc.integer({ min: 3, max: 400 }),
  checkpointFor: fc.nat(12),
  evidence: fc.constantFrom("checkpoint", "step", "percent", "none"),
  succeeds: fc.boolean(),
  attempts: fc.array(
    fc.record({
      gapBefore: fc.integer({ min: 1, max: 200 }),
      bind: perPod(20),
      start: perPod(30),
      teardown: perPod(10),
      trains: fc.integer({ min: 4, max: 1_500 }),
      failing: fc.nat(MOST_PODS - 1),
    }),
    { minLength: 1, maxLength: 5 },
  ),
});

/** A simulated run: the facts and points that a store would have, its charges, and the truth about its phases. */
export interface SimulatedRun {
  readonly facts: readonly WorkloadFact[];
  readonly points: readonly ProgressPoint[];
  readonly charges: readonly LaneCharge[];
  /** The exact GPU-time of each phase, in tenths of a unit of one GPU. */
  readonly tenths: ReadonlyMap<RunPhase, number>;
  /** The lost GPU-time of each failure, in the same unit. */
  readonly lostTenths: readonly number[];
}

/** Amounts of GPU-time in tenths of a unit, at 3.60 an hour. */
export function amountsOfTenths(tenths: number): RunAmounts {
  const of = (perTenth: bigint): bigint => BigInt(tenths) * perTenth;
  return {
    gpuHours: lastUnits(of(250_000n)),
    unpricedGpuHours: lastUnits(0n),
    list: lastUnits(of(1_000_000n)),
    contracted: lastUnits(of(900_000n)),
    effective: lastUnits(of(900_000n)),
    power: lastUnits(0n),
    millijoules: of(630_000n),
    carbon: lastUnits(of(7n)),
  };
}

interface SimulatedAttempt {
  readonly whole: number;
  readonly stop: number;
  /** The last complete checkpoint before the stop; the begin of the run's training if there is none. */
  readonly safe: number;
  readonly fails: boolean;
  /** The loss of the last failure is known only by checkpoints: nothing comes after it that could fall, and no restart to estimate for. */
  readonly isLossKnown: boolean;
}

/** Plays a plan unit by unit. `lostFrom` is the truth about lost work; it differs from the checkpoint for estimates. */
export function simulate(plan: RunPlan, estimateMillis?: number): SimulatedRun {
  const { pods, gpus, activeTenths, unobservedTenths, evidence } = plan;
  const facts: WorkloadFact[] = [];
  const points: ProgressPoint[] = [];
  const attempts: SimulatedAttempt[] = [];
  const saves: { readonly from: number; readonly until: number }[] = [];
  const lives: { readonly bound: number; readonly started: number; readonly ended: number }[] = [];
  let created = START;
  let done = 0;
  let safe = Infinity;
  plan.attempts.forEach((attempt, index) => {
    created += attempt.gapBefore * UNIT;
    const isLast = index === plan.attempts.length - 1;
    const fails = !isLast || !plan.succeeds;
    const each = Array.from({ length: pods }, (_, pod) => ({
      bound: created + attempt.bind[pod]! * UNIT,
      started: created + (attempt.bind[pod]! + attempt.start[pod]!) * UNIT,
    }));
    const whole = Math.max(...each.map(({ started }) => started));
    const stop = whole + attempt.trains * UNIT;
    safe = Math.min(safe, whole);
    const failing = attempt.failing % pods;
    const uids = each.map((_, pod) => `a${index}-p${pod}`);
    const report = (at: number, value: number): void => {
      const measure = evidence === "step" ? { step: value } : { percent: value / 1_000 };
      if (evidence === "step" || evidence === "percent")
        points.push({ at, source: "annotation", pod: uids[0]!, ...measure });
    };
    report(whole, done);
    if (evidence === "checkpoint")
      points.push({ at: whole, source: "annotation", pod: uids[0]!, checkpoint: { at: START - HOUR_MILLIS } });
    const period = plan.checkpointEvery + plan.checkpointFor;
    for (let at = whole + period * UNIT; at <= stop; at += period * UNIT) {
      safe = at;
      done += plan.checkpointEvery;
      report(at, done);
      const checkpoint = { at, seconds: (plan.checkpointFor * UNIT) / 1_000 };
      if (evidence !== "checkpoint") continue;
      points.push({ at, source: "annotation", pod: uids[0]!, checkpoint });
      saves.push({ from: at - plan.checkpointFor * UNIT, until: at });
    }
    if (safe < stop) report(stop - 1, done + 1);
    attempts.push({ whole, stop, safe, fails, isLossKnown: fails && (!isLast || evidence === "checkpoint") });
    each.forEach((life, pod) => {
      const isFailing = pod === failing && fails;
      const ended = isFailing || !fails ? stop : stop + attempt.teardown[pod]! * UNIT;
      lives.push({ ...life, ended });
      const endReason: EndReason = !fails ? "completed" : isFailing ? "failed" : "deleted";
      const times = { created, scheduled: life.bound, started: life.started, finished: ended };
      const owners = [{ apiVersion: "jobset.x-k8s.io/v1alpha2", kind: "JobSet", name: "train", uid: `set-${index}` }];
      const workload = { kind: "JobSet", name: "train" };
      const name = `train-${pod}`;
      facts.push(workloadFact({ uid: uids[pod]!, name, times, endReason, owners, workload, node: `gpu-${pod}` }));
    });
    created = Math.max(...lives.map(({ ended }) => ended));
  });

  const phaseAt = (at: number): { readonly phase: RunPhase; readonly attempt: number } => {
    const attempt = attempts.findLastIndex(({ whole }) => whole <= at);
    if (attempt === -1) return { phase: "starting", attempt };
    if (at >= attempts[attempt]!.stop) return { phase: "recovering", attempt };
    if (saves.some(({ from, until }) => from <= at && at < until)) return { phase: "checkpointing", attempt };
    const losing = attempts.findIndex((each) => each.isLossKnown && lostFrom(each) <= at && at < each.stop);
    if (losing === -1) return { phase: "productive", attempt };
    return { phase: evidence === "none" ? "lost-estimated" : "lost", attempt: losing };
  };
  const lostFrom = ({ whole, stop, safe: from }: SimulatedAttempt): number => {
    if (evidence !== "none") return from;
    return estimateMillis === undefined ? Infinity : Math.max(whole, stop - estimateMillis / 2);
  };

  const tenths = new Map<RunPhase, number>();
  const lostTenths = attempts.filter(({ fails }) => fails).map(() => 0);
  const lines = new Map<string, { readonly from: number; until: number; readonly state: HeldState; tenths: number }>();
  const idleTenths = 10 - activeTenths - unobservedTenths;
  lives.forEach(({ bound, started, ended }, life) => {
    for (let at = bound; at < ended; at += UNIT) {
      const { phase, attempt } = phaseAt(at);
      const use: readonly (readonly [HeldState, number])[] =
        at < started
          ? [["starting", 10]]
          : [
              ["active", activeTenths],
              ["idle", idleTenths],
              ["unobserved", unobservedTenths],
            ];
      for (const [state, part] of use) {
        const isIdle = state === "idle" && (phase === "productive" || phase === "lost" || phase === "lost-estimated");
        const of: RunPhase = state === "unobserved" ? "unobserved" : isIdle ? "idle" : phase;
        tenths.set(of, (tenths.get(of) ?? 0) + part * gpus);
        if (of === "lost" || of === "lost-estimated") lostTenths[attempt]! += part * gpus;
        const segment = at < started ? bound : started;
        const key = JSON.stringify([life, segment, hourOf(at), state]);
        const line = lines.get(key) ?? { from: Math.max(segment, hourOf(at)), until: at, state, tenths: 0 };
        lines.set(key, line);
        line.until = Math.min(at + UNIT, hourOf(at) + HOUR_MILLIS);
        line.tenths += part * gpus;
      }
    }
  });
  const charges = [...lines.values()].map(({ from, until, state, tenths: of }) => ({
    lane: 0,
    from,
    until,
    state,
    amounts: amountsOfTenths(of),
  }));
  return { facts, points: points.toSorted((a, b) => a.at - b.at), charges, tenths, lostTenths };
}
