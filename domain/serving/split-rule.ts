import type { Work } from "./work.ts";

/**
 * The phase of serving that a cost belongs to. `starting` is the time before the pod was ready. `inference` is the work of engines that do not
 * separate prefill from decode. `idle` is time without any request. `unmeasured` is time in which the engine's page was not read.
 */
export type Phase = "starting" | "prefill" | "decode" | "inference" | "idle" | "unmeasured";

/** The phases of work. */
export type BusyPhase = "prefill" | "decode" | "inference";

/** Returns whether a phase is work, and not time without it. */
export function isBusy(phase: Phase): phase is BusyPhase {
  return phase === "prefill" || phase === "decode" || phase === "inference";
}

/** All phases, in the order of reports. */
export const PHASES = [
  "prefill",
  "decode",
  "inference",
  "idle",
  "starting",
  "unmeasured",
] as const satisfies readonly Phase[];

/**
 * The names of the rules that split the cost of busy time over phases.
 *
 * - `gpu-time`: the time of the GPU in passes of prefill and of decode, as SGLang measures it.
 * - `time`: the time that requests spent in prefill and in decode. Requests of one batch overlap, so this is a proxy.
 * - `flops`: computed and generated tokens count alike, because a token takes about two operations per parameter in either phase.
 * - `weights`: computed and generated tokens by a ratio that the configuration has.
 */
export const SPLIT_RULES = ["gpu-time", "time", "flops", "weights"] as const;

/** The name of a rule. */
export type SplitRule = (typeof SPLIT_RULES)[number];

/** The basis that a split has really used: a rule, or what is left if the page has nothing for any rule. */
export type SplitBasis = SplitRule | "compute" | "equal" | "none";

/** The weights of a computed and of a generated token under the rule `weights`. */
export interface TokenWeights {
  readonly computed: number;
  readonly generated: number;
}

/** The weights of a model's phases. */
export type PhaseWeights = Readonly<Partial<Record<BusyPhase, number>>>;

type Weigher = (work: Work, tokens: TokenWeights) => PhaseWeights;

const byTokens = (work: Work, { computed, generated }: TokenWeights): PhaseWeights => ({
  prefill: work.computedTokens * computed,
  decode: work.generatedTokens * generated,
});

const WEIGHERS: Readonly<Record<Exclude<SplitBasis, "none">, Weigher>> = {
  "gpu-time": (work) => ({ prefill: work.gpuPrefillMicros, decode: work.gpuDecodeMicros }),
  time: (work) => ({ prefill: work.prefillMicros, decode: work.decodeMicros }),
  flops: (work) => byTokens(work, { computed: 1, generated: 1 }),
  weights: byTokens,
  compute: (work) => ({ inference: work.computeMicros }),
  equal: () => ({ inference: 1 }),
};

/** The bases that are tried after a rule's own, in order. */
const FALLBACKS = ["time", "weights", "compute", "equal"] as const;

/**
 * Returns the weights of the phases of models that share busy time, and the basis: that of the rule, or the first of `time`, `weights`,
 * `compute` and `equal` for which the pages have values. A basis counts only if each model that worked has a weight by it, because weights of
 * two bases cannot be compared. `equal` counts models, all phases together.
 */
export function phaseWeights(
  rule: SplitRule,
  works: readonly Work[],
  tokens: TokenWeights,
): { readonly basis: SplitBasis; readonly weights: readonly PhaseWeights[] } {
  for (const basis of [rule, ...FALLBACKS]) {
    const weights = works.map((work) => WEIGHERS[basis](work, tokens));
    const totals = weights.map(sumOf);
    const isWhole = totals.every((total, index) => total > 0 || !hasWorked(works[index]!));
    if (isWhole && totals.some((total) => total > 0)) return { basis, weights };
  }
  return { basis: "none", weights: works.map(() => ({})) };
}

function sumOf({ prefill = 0, decode = 0, inference = 0 }: PhaseWeights): number {
  return prefill + decode + inference;
}

/** Returns whether a model has computed anything. Requests that fail at once are no work. */
function hasWorked({ computedTokens, generatedTokens, inferences, computeMicros }: Work): boolean {
  return computedTokens + generatedTokens + inferences + computeMicros > 0;
}
