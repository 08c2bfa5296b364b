/** The increases of counters within an hour, by the name of the canonical metric. A counter that the page does not have is absent. */
export type Increases = Readonly<Record<string, number | undefined>>;

/**
 * The largest count of an hour, of tokens as of microseconds. Sums of counts end there, so that a page with wrong counters cannot make a count
 * that is no safe integer, and the split of other services goes on.
 */
export const MOST_COUNT = 1e14;

/** Returns the sum of two counts, at most {@link MOST_COUNT}. */
export function addCounts(a: number, b: number): number {
  return Math.min(a + b, MOST_COUNT);
}

/** The work of one model in an hour, as the split of charges needs it. Tokens and durations are whole numbers; 0 if there was none. */
export interface Work {
  /** Prompt tokens that were computed. */
  readonly computedTokens: number;
  /** Prompt tokens that came from a cache. */
  readonly cachedTokens: number;
  readonly generatedTokens: number;
  readonly requests: number;
  readonly inferences: number;
  /** Sums over requests, in microseconds. Requests of one batch overlap, so only ratios of these sums have a meaning. */
  readonly prefillMicros: number;
  readonly decodeMicros: number;
  readonly computeMicros: number;
  /** Time of the GPU itself, in microseconds. */
  readonly gpuPrefillMicros: number;
  readonly gpuDecodeMicros: number;
}

/** The work of nothing. */
export const NO_WORK: Work = {
  computedTokens: 0,
  cachedTokens: 0,
  generatedTokens: 0,
  requests: 0,
  inferences: 0,
  prefillMicros: 0,
  decodeMicros: 0,
  computeMicros: 0,
  gpuPrefillMicros: 0,
  gpuDecodeMicros: 0,
};

const CACHES = ["cached_device_tokens", "cached_host_tokens", "cached_external_tokens", "cached_tokens"] as const;
const ENDS = ["requests_stop", "requests_length", "requests_abort", "requests_error", "requests_other"] as const;

/**
 * Returns the work of counters. Without a counter of computed prompt tokens, those are the prompt tokens that came from no cache. Without a
 * counter of all requests, their ends are added.
 */
export function workOf(of: Increases): Work {
  const given = (name: string): number => of[name] ?? 0;
  const total = (names: readonly string[]): number => names.reduce((sum, name) => addCounts(sum, given(name)), 0);
  const prompt = of["prompt_tokens"];
  const cached = total(CACHES);
  const computed = of["computed_prompt_tokens"] ?? Math.max(0, (prompt ?? 0) - cached);
  return {
    computedTokens: computed,
    cachedTokens: prompt === undefined ? cached : Math.min(cached, Math.max(0, prompt - computed)),
    generatedTokens: given("generation_tokens"),
    requests: of["requests"] ?? total(ENDS),
    inferences: given("inferences"),
    prefillMicros: given("prefill_us"),
    decodeMicros: given("decode_us"),
    computeMicros: given("compute_us"),
    gpuPrefillMicros: given("gpu_prefill_us"),
    gpuDecodeMicros: given("gpu_decode_us"),
  };
}

/** Returns whether a page counts cached prompt tokens. */
export function countsCached(of: Increases): boolean {
  return CACHES.some((name) => of[name] !== undefined);
}

/** The work of one model. */
export interface ModelWork {
  readonly model: string;
  readonly work: Work;
}

/** Returns the sum of the works of each model, sorted by model. */
export function addModels(works: readonly ModelWork[]): readonly ModelWork[] {
  const sums = new Map<string, Work>();
  for (const { model, work } of works) sums.set(model, addWork(sums.get(model) ?? NO_WORK, work));
  return [...sums].map(([model, work]) => ({ model, work })).sort((a, b) => (a.model < b.model ? -1 : 1));
}

function addWork(a: Work, b: Work): Work {
  const names = Object.keys(NO_WORK) as (keyof Work)[];
  return Object.fromEntries(names.map((name) => [name, addCounts(a[name], b[name])])) as unknown as Work;
}

/** Returns the number of tokens that a model has computed or generated. */
export function tokensOf({ computedTokens, cachedTokens, generatedTokens }: Work): number {
  return computedTokens + cachedTokens + generatedTokens;
}
