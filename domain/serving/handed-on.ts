import { split } from "../exact/split.ts";
import { workOf, type Increases, type Work } from "./work.ts";

/** The counters of one engine's model in an hour. */
export interface EngineCounters {
  readonly increases: Increases;
}

/** A prefill engine generates one token for each request. Requests that end within the hour are not exactly those that begin. */
const TOKENS_OF_PREFILL = 1.05;
/** The largest difference between two counts of the same prompts, as a part. */
const TOLERANCE = 0.1;

/**
 * Returns the work of engines of one model that can hand requests on to each other. If prefill and decode run apart, a request passes two
 * engines and both count it: the prefill engine generates one token, which is thrown away, and the decode engine counts the whole prompt,
 * which came over the network. So prompts count at the prefill engine, generated tokens and requests at the decode engine, and prompts that
 * were handed on are cached nowhere. An engine is a prefill engine if it generates at most one token for each request, and other engines have received prompts: they
 * count tokens from outside, or, if they count no sources at all, as many prompts and requests as the prefill engines. Prompts beyond those
 * of prefill engines are a decode engine's own, so the tokens of an outer cache stay cached.
 * Source: https://github.com/vllm-project/vllm/issues/33289 and /43370.
 */
export function worksOfEngines(engines: readonly EngineCounters[]): readonly Work[] {
  const works = engines.map(({ increases }) => workOf(increases));
  const isPrefill = works.map(
    (work) => promptsOf(work) > 0 && work.requests > 0 && work.generatedTokens <= work.requests * TOKENS_OF_PREFILL,
  );
  const others = [...engines.keys()].filter((index) => !isPrefill[index] && works[index]!.generatedTokens > 0);
  const fromOutside = others.filter((index) => (engines[index]!.increases["cached_external_tokens"] ?? 0) > 0);
  const receivers = fromOutside.length > 0 ? fromOutside : others.filter((index) => !countsSources(engines[index]!));
  const sum = (indexes: readonly number[], countOf: (work: Work) => number): number =>
    indexes.reduce((total, index) => total + countOf(works[index]!), 0);
  const prefills = [...engines.keys()].filter((index) => isPrefill[index]);
  const [sent, received] = [sum(prefills, promptsOf), sum(receivers, promptsOf)];
  const [ended, answered] = [prefills, receivers].map((indexes) => sum(indexes, ({ requests }) => requests));
  const isHandedOn =
    fromOutside.length > 0 ? sent <= received * (1 + TOLERANCE) : isNear(sent, received) && isNear(ended!, answered!);
  if (sent === 0 || received === 0 || !isHandedOn) return works;
  const handed = split(
    BigInt(Math.min(sent, received)),
    receivers.map((index) => promptsOf(works[index]!)),
  )!;
  for (const index of prefills) works[index] = { ...works[index]!, generatedTokens: 0, requests: 0 };
  for (const [at, index] of receivers.entries()) works[index] = withoutPrompts(works[index]!, Number(handed[at]!));
  return works;
}

function promptsOf({ computedTokens, cachedTokens }: Work): number {
  return computedTokens + cachedTokens;
}

function countsSources({ increases }: EngineCounters): boolean {
  return increases["computed_prompt_tokens"] !== undefined || increases["cached_external_tokens"] !== undefined;
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE * Math.max(a, b);
}

/** Returns the work without some of its prompt tokens: first those from outside and from caches, then computed ones. */
function withoutPrompts(work: Work, tokens: number): Work {
  const cached = Math.min(tokens, work.cachedTokens);
  return {
    ...work,
    cachedTokens: work.cachedTokens - cached,
    computedTokens: work.computedTokens - (tokens - cached),
  };
}
