import { divide, multiply, rational, type Rational } from "../exact/rational.ts";
import { exactly, roundToLastUnit, type GpuHours, type Money } from "../exact/units.ts";
import { peaksOf } from "../gpu-model/peaks.ts";
import type { TrainingMarks } from "../training-marks.ts";
import type { ProgressPoint } from "./progress.ts";
import type { PhaseAmounts } from "./report.ts";
import type { Timeline } from "./timeline.ts";

/** The floating-point operations of a training with 1 token for each parameter: forward and backward pass (6N; PaLM, appendix B). */
const FLOPS_PER_TOKEN_AND_PARAMETER = 6;

const EXA = rational(10n ** 18n);
const SECONDS_OF_HOUR = rational(3600);

/** The efficiency of a run. */
export interface Efficiency {
  /**
   * `tokens`: useful operations, from reported tokens and parameters. `upper-bound`: operations that the busy tensor pipes could have done at
   * most, useful or not.
   */
  readonly basis: "tokens" | "upper-bound";
  /** Dense BF16 operations. */
  readonly flops: bigint;
  /** The effective cost of the whole run for 10¹⁸ operations: exact for `tokens` up to the last unit, at least this for `upper-bound`. */
  readonly costPerExaflop: Money;
  /** The part of the dense peak while the run trained (productive and idle time); undefined if the peak of a GPU model is unknown. */
  readonly ofPeak: Rational | undefined;
  /** The tokens; undefined for `upper-bound`. */
  readonly tokens: bigint | undefined;
}

/** GPU-hours of a GPU model. */
export interface ModelHours {
  readonly model: string;
  readonly gpuHours: GpuHours;
}

/** The time of the run's GPUs with a value of the tensor pipes' activity, in milliseconds of GPUs, and the busy part of it. */
export interface TensorTime {
  readonly coveredMillis: bigint;
  readonly busyMillis: bigint;
}

/** The reports of a run. */
export interface ReportedWork {
  readonly marks: TrainingMarks;
  readonly points: readonly ProgressPoint[];
  readonly timelines: readonly Timeline[];
  /** The end of the run, or now; milliseconds since the epoch. */
  readonly until: number;
}

/** Returns the efficiency of a run; undefined if neither tokens nor tensor activity are known, or if nothing was computed. */
export function efficiencyOf(
  of: { readonly phases: PhaseAmounts; readonly cost: Money; readonly models: readonly ModelHours[] },
  reported: ReportedWork,
  tensor: TensorTime | undefined,
): Efficiency | undefined {
  const tokens = tokensOf(reported);
  const { parameters } = reported.marks;
  const peak = peakOf(of.models);
  if (tokens !== undefined && tokens > 0n && parameters !== undefined && parameters > 0) {
    const flops = BigInt(FLOPS_PER_TOKEN_AND_PARAMETER) * BigInt(parameters) * tokens;
    const trained = (of.phases.get("productive")?.gpuHours ?? 0n) + (of.phases.get("idle")?.gpuHours ?? 0n);
    const most = peak && multiply(multiply(peak, exactly(trained as GpuHours)), SECONDS_OF_HOUR);
    const ofPeak = most === undefined || most.num === 0n ? undefined : divide(rational(flops), most);
    return { basis: "tokens", flops, costPerExaflop: perExaflop(of.cost, flops), ofPeak, tokens };
  }
  if (tensor === undefined || tensor.busyMillis === 0n || peak === undefined) return undefined;
  const { num, den } = multiply(peak, rational(tensor.busyMillis, 1000n));
  const flops = num / den;
  const ofPeak = rational(tensor.busyMillis, tensor.coveredMillis);
  return { basis: "upper-bound", flops, costPerExaflop: perExaflop(of.cost, flops), ofPeak, tokens: undefined };
}

function perExaflop(cost: Money, flops: bigint): Money {
  return roundToLastUnit(divide(multiply(exactly(cost), EXA), rational(flops)));
}

/** Returns the dense BF16 operations in a second of the run's mean GPU; undefined if a model is unknown. */
function peakOf(models: readonly ModelHours[]): Rational | undefined {
  let [operations, hours] = [0n, 0n];
  for (const { model, gpuHours } of models) {
    const peaks = peaksOf(model);
    if (peaks === undefined) return undefined;
    operations += gpuHours * BigInt(peaks.teraflops) * 10n ** 12n;
    hours += gpuHours;
  }
  return hours === 0n ? undefined : rational(operations, hours);
}

/**
 * Returns the tokens of the work that was not lost: the steps from the first to the last report, otherwise the reported rate over the time in
 * which the run trained. Undefined if neither is reported.
 */
function tokensOf({ marks, points, timelines, until: end }: ReportedWork): bigint | undefined {
  const { tokensPerStep, tokensPerSecond } = marks;
  const steps = points.flatMap(({ step }) => step ?? []);
  if (tokensPerStep !== undefined && steps.length > 1)
    return BigInt(Math.max(0, steps.at(-1)! - steps[0]!)) * BigInt(tokensPerStep);
  const [timeline, ...others] = timelines;
  if (tokensPerSecond === undefined || timeline === undefined || others.length > 0) return undefined;
  const trainedMillis = timeline.stretches.reduce(
    (sum, { phase, from, until }) => (phase === "training" ? sum + Math.max(0, Math.min(until, end) - from) : sum),
    0,
  );
  const tokens = Math.round((tokensPerSecond * trainedMillis) / 1000);
  return Number.isFinite(tokens) ? BigInt(tokens) : undefined;
}
