import { createHash } from "node:crypto";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { checkFocus, type CheckOutcome, type WrittenCells } from "./check/check.ts";
import { FocusCheckError } from "./check/error.ts";
import { checkedOnTheWay } from "./check/on-the-way.ts";
import type { Expected } from "./check/rule.ts";
import type { FocusColumn, FocusSetting } from "./columns.ts";
import { focusCsv, readFocusCsv } from "./csv.ts";
import { createTally, FOCUS_VERSION, type FocusManifest, type Tally } from "./manifest.ts";
import { focusParquet } from "./parquet.ts";
import type { Part } from "./part.ts";
import { unpricedLines, type UnpricedTeam } from "./plan.ts";
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
  /** True if the file may have charges by public list prices. */
  readonly listPrices?: boolean;
  /** The number of lines in one query; see `LINES_AT_ONCE`. */
  readonly linesAtOnce?: number;
}

/** The content of a file, with its expected sums and the first part of its manifest. */
export interface FocusSource {
  readonly columns: readonly FocusColumn[];
  /** Origins with all of their parts, at least one of which is asked for. */
  readonly origins: AsyncIterable<readonly [Part, ...Part[]]>;
  readonly expected: Expected;
  readonly about: Pick<FocusManifest, "rule" | "kind" | "from" | "until" | "where" | "unpriced" | "runsHash">;
}

/** Returns the file of a source. Its bytes are made while they are read. */
export function focusFile(
  store: StoreClient,
  { columns, origins, expected, about }: FocusSource,
  setting: FocusSetting,
  { format, isChecked }: Pick<FocusWay, "format" | "isChecked">,
): FocusExport {
  const tally = createTally(columns);
  let outcome: CheckOutcome | undefined;
  async function* checked<Of>(
    parts: AsyncIterable<Of>,
    linesOf: (copy: AsyncIterable<Of>) => AsyncIterable<WrittenCells>,
  ): AsyncGenerator<Of> {
    outcome = yield* checkedOnTheWay(parts, (copy) => checkFocus(linesOf(copy), expected));
    if (outcome.count > 0) throw new FocusCheckError(outcome);
  }
  async function* rows(): AsyncGenerator<readonly FocusCells[]> {
    for await (const parts of origins) yield rowsOf(parts, columns, setting);
  }
  async function* withHeads(portions: AsyncIterable<readonly FocusCells[]>): AsyncGenerator<WrittenCells> {
    yield columns.map(({ name }) => name);
    for await (const some of portions) yield* some;
  }
  const cells = counted(rows(), tally);
  const csv = focusCsv(columns, cells);
  const file = {
    csv: () => (isChecked ? checked(csv, readFocusCsv) : csv),
    parquet: () => focusParquet(store, columns, isChecked ? checked(cells, withHeads) : cells),
  };
  return {
    bytes: file[format](),
    manifest: () => ({
      focusVersion: FOCUS_VERSION,
      policy: setting.policy,
      ...about,
      currency: setting.currency,
      rows: tally.rows,
      sums: tally.sums,
      check:
        outcome === undefined
          ? null
          : { isPassed: outcome.count === 0, count: outcome.count, violations: outcome.violations },
    }),
  };
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

/** Returns the part of a manifest that is known before a file is written. */
export function aboutOf(
  { kind, span, where }: Pick<ChargesQuestion, "kind" | "span" | "where">,
  runs: readonly string[],
  unpriced: readonly UnpricedTeam[],
): FocusSource["about"] {
  const gpuHours = sum(unpriced.map((team) => amountOf<"gpu-hour">(team.gpuHours)));
  return {
    kind,
    from: new Date(span.from).toISOString(),
    until: new Date(span.until).toISOString(),
    where,
    unpriced: { lines: unpricedLines(unpriced), gpuHours: formatAmount(gpuHours), teams: unpriced },
    runsHash: createHash("sha256").update(runs.join("\n")).digest("hex"),
  };
}
