import { createHash } from "node:crypto";
import { amountOf, difference, formatAmount, sum } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { fixLines } from "../lines/fixed.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { readReport } from "../report/read-report.ts";
import { checkFocus, type CheckOutcome, type WrittenCells } from "./check/check.ts";
import type { Expected } from "./check/rule.ts";
import { FocusCheckError } from "./check/error.ts";
import { checkedOnTheWay } from "./check/on-the-way.ts";
import { FOCUS_COLUMNS, type FocusSetting } from "./columns.ts";
import { focusCsv, readFocusCsv } from "./csv.ts";
import { createTally, FOCUS_VERSION, type FocusManifest, type Tally } from "./manifest.ts";
import { focusParquet } from "./parquet.ts";
import { planFocus, type FocusPlan } from "./plan.ts";
import { readOrigins } from "./read-origins.ts";
import { rowsOf, type FocusCells } from "./rows.ts";

/** A file while it is written, and its manifest. */
export interface FocusExport {
  /**
   * Ends with a {@link FocusCheckError} if the file is checked and breaks a rule. Fails otherwise with a `StoreError` or a
   * `LinesReplacedError`.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Returns the manifest. It is correct for the whole file when all bytes have been read. */
  manifest(): FocusManifest;
}

/** The options of an export. */
export interface FocusWay {
  readonly format: "csv" | "parquet";
  /** True if the export is checked: the bytes of CSV, or the cells of Parquet's columns. */
  readonly isChecked: boolean;
  /** The number of lines in one query; see `LINES_AT_ONCE`. */
  readonly linesAtOnce?: number;
}

/**
 * Exports the charges of a question as the Cost and Usage of FOCUS 1.3: a row for the equal lines of a UTC day, with split-cost columns.
 * Only one portion of the lines is in memory at a time. Fails with a `StoreError`.
 */
export async function exportFocus(
  store: StoreClient,
  question: ChargesQuestion,
  setting: FocusSetting,
  { format, isChecked, linesAtOnce }: FocusWay,
): Promise<FocusExport> {
  const { plan, expected } = await planned(store, question, setting.currency, linesAtOnce);
  const tally = createTally();
  let outcome: CheckOutcome | undefined;
  async function* checked<Of>(
    parts: AsyncIterable<Of>,
    linesOf: (copy: AsyncIterable<Of>) => AsyncIterable<WrittenCells>,
  ): AsyncGenerator<Of> {
    outcome = yield* checkedOnTheWay(parts, (copy) => checkFocus(linesOf(copy), expected));
    if (outcome.count > 0) throw new FocusCheckError(outcome);
  }
  const cells = counted(rows(store, plan, setting), tally);
  const file = {
    csv: () => (isChecked ? checked(focusCsv(cells), readFocusCsv) : focusCsv(cells)),
    parquet: () => focusParquet(store, isChecked ? checked(cells, withHeads) : cells),
  };
  return { bytes: file[format](), manifest: () => manifestOf(plan, setting, tally, outcome) };
}

async function* withHeads(portions: AsyncIterable<readonly FocusCells[]>): AsyncGenerator<WrittenCells> {
  yield FOCUS_COLUMNS.map(({ name }) => name);
  for await (const some of portions) yield* some;
}

/**
 * Plans an export. Charges that are published between the two readings would make a correct file differ from the report. Then both are read
 * again, a limited number of times.
 */
async function planned(
  store: StoreClient,
  question: ChargesQuestion,
  currency: string,
  linesAtOnce: number | undefined,
): Promise<{ readonly plan: FocusPlan; readonly expected: Expected }> {
  for (let turn = 1; ; turn++) {
    const plan = await planFocus(store, question, linesAtOnce);
    const { total } = await readReport(store, { ...question, by: ["billingPeriod"] }, currency);
    const { runs } = await fixLines(store, plan.fixed.question);
    if (turn < MOST_TURNS && runs.join() !== plan.fixed.runs.join()) continue;
    const sums = {
      ListCost: total.list,
      ContractedCost: total.contracted,
      EffectiveCost: total.cost,
      x_PowerCost: total.power,
      x_GpuHours: formatAmount(difference(amountOf(total.gpuHours), amountOf(total.unpricedGpuHours))),
      x_Lines: String(total.lines - linesOf(plan)),
    };
    return { plan, expected: { sums, isWhole: question.where.length === 0 } };
  }
}

const MOST_TURNS = 5;

function linesOf({ unpriced }: FocusPlan): number {
  return unpriced.reduce((count, { lines }) => count + lines, 0);
}

async function* rows(
  store: StoreClient,
  plan: FocusPlan,
  setting: FocusSetting,
): AsyncGenerator<readonly FocusCells[]> {
  for await (const parts of readOrigins(store, plan)) yield rowsOf(parts, setting);
}

async function* counted(
  portions: AsyncIterable<readonly FocusCells[]>,
  tally: Tally,
): AsyncGenerator<readonly FocusCells[]> {
  for await (const some of portions) {
    tally.add(some);
    yield some;
  }
}

function manifestOf(
  plan: FocusPlan,
  { policy, currency }: FocusSetting,
  { rows: count, sums }: Tally,
  outcome: CheckOutcome | undefined,
): FocusManifest {
  const { question, fixed, unpriced } = plan;
  const gpuHours = sum(unpriced.map((team) => amountOf<"gpu-hour">(team.gpuHours)));
  return {
    focusVersion: FOCUS_VERSION,
    policy,
    kind: question.kind,
    from: new Date(question.span.from).toISOString(),
    until: new Date(question.span.until).toISOString(),
    where: question.where,
    currency,
    rows: count,
    sums,
    unpriced: { lines: linesOf(plan), gpuHours: formatAmount(gpuHours), teams: unpriced },
    runsHash: createHash("sha256").update(fixed.runs.join("\n")).digest("hex"),
    check:
      outcome === undefined
        ? null
        : { isPassed: outcome.count === 0, count: outcome.count, violations: outcome.violations },
  };
}
