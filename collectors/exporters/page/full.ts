import type { LineDrop } from "../../../domain/scrape.ts";
import type { Steps } from "../../../runtime/steps.ts";
import { parseSteps, type Exposition, type ExpositionSample } from "../exposition/parse.ts";
import { SENTINEL_TEXT } from "../fold/row.ts";
import { PageError } from "../http/page-error.ts";
import type { KnownPlan, PageKind, PageLimits, PlannedPage } from "./kind.ts";

/** A page that was read without a template: its lines, the plan, and the drop counts that follow from the text alone. */
export interface FullReading<Plan = PlannedPage> {
  readonly exposition: Exposition;
  readonly plan: Plan;
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  /** Samples whose value is not a number. */
  readonly texts: readonly ExpositionSample[];
  /** The last sample, if the transfer may have cut it. */
  readonly truncated: ExpositionSample | undefined;
}

/**
 * Reads a page with the reference parser. Throws a {@link PageError} if it is not in the text format, not of a known program of this kind,
 * or beyond the limits.
 */
export function* readInFull<Source, Plan extends KnownPlan>(
  page: Buffer,
  complete: boolean,
  { kind, source, limits }: { kind: PageKind<Source, Plan>; source: Source; limits: PageLimits },
): Steps<FullReading<Plan>> {
  const parsed = yield* parseSteps(page, limits);
  const cutOff = parsed.unterminated && !complete && !parsed.ended;
  const last = parsed.samples.at(-1);
  const truncated = cutOff && last?.end === page.length ? last : undefined;
  const whole = parsed.samples.filter((sample) => sample !== truncated);
  const numbers = whole.filter((sample) => sample.value !== undefined);
  const texts = whole.filter((sample) => sample.value === undefined);
  yield;
  if (parsed.samples.length === 0 && parsed.malformed.length > 0) {
    const { line, why } = parsed.malformed[0]!;
    throw new PageError("not-exposition", `no line can be read as a sample; line ${line}: ${why}`);
  }
  const exposition = { ...parsed, samples: numbers };
  const plan = yield* kind.plan(numbers, parsed.families, limits, source);
  if (numbers.length > 0 && !plan.known) {
    const first = numbers[0]!.name.slice(0, LONGEST_NAME);
    const hint = OTHER_ENGINES.test(first) ? ", of an inference engine that is not supported" : "";
    throw new PageError("foreign-page", `no series of a known ${kind.programs}; the first is ${first}${hint}`);
  }
  const tally = createTally({});
  for (const sample of texts) tally.add(SENTINEL_TEXT.test(sample.valueText) ? "sentinel" : "not-a-number");
  for (const _ of parsed.malformed) tally.add("malformed-line");
  if (truncated !== undefined) tally.add("unterminated-line");
  for (const { reason } of plan.drops) tally.add(reason);
  return { exposition, plan, dropped: tally.total(), texts, truncated };
}

const LONGEST_NAME = 200;
/** Names of inference engines whose series are not read. */
const OTHER_ENGINES =
  /^(ray_|aphrodite|mlc|lightllm|tabby|xinference|ollama|mindie|infinity|te_|tei_|friendli|dsmii)[a-z_]*[:_]/;

/** Creates a tally of counts by reason on top of a base. Returns the base object itself if nothing is added. */
export function createTally(base: Readonly<Partial<Record<LineDrop, number>>>): {
  readonly add: (reason: LineDrop) => void;
  readonly count: (number: number, reason: LineDrop) => void;
  readonly total: () => Readonly<Partial<Record<LineDrop, number>>>;
} {
  let own: Partial<Record<LineDrop, number>> | undefined;
  const add = (reason: LineDrop): void => {
    own ??= { ...base };
    own[reason] = (own[reason] ?? 0) + 1;
  };
  return { add, count: (_, reason) => add(reason), total: () => own ?? base };
}
