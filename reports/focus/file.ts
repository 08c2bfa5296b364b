import { createHash } from "node:crypto";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { checkFocus, type CheckOutcome, type WrittenCells } from "./check/check.ts";
import { FocusCheckError } from "./check/error.ts";
import { checkedOnTheWay } from "./check/on-the-way.ts";
import type { Expected } from "./check/rule.ts";
import type { Dataset } from "./check/dataset.ts";
import type { ColumnHead } from "./columns.ts";
import { focusCsv, readFocusCsv } from "./csv.ts";
import { createTally, type FileManifest, type FocusManifest, type Tally } from "./manifest.ts";
import { focusParquet } from "./parquet.ts";
import type { FocusSetting } from "./setting.ts";
import { unpricedLines, type UnpricedTeam } from "./plan.ts";
import type { FocusCells } from "./rows.ts";

/** A file while it is written, and its manifest. */
export interface FocusExport<Manifest extends FileManifest = FocusManifest> {
  /**
   * Ends with a {@link FocusCheckError} if the file is checked and breaks a rule. Fails otherwise with a `StoreError` or a
   * `LinesReplacedError`.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Returns the manifest. It is correct for the whole file when all bytes have been read. */
  manifest(): Manifest;
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

/** The content of a file, with the rules that it must follow and its expected sums. */
export interface FocusSource {
  readonly dataset: Dataset;
  readonly columns: readonly ColumnHead[];
  readonly rows: AsyncIterable<readonly FocusCells[]>;
  readonly expected: Expected;
}

/** Returns the file of a source. Its bytes are made while they are read. `about` is the part of the manifest that is known before. */
export function focusFile<About extends object>(
  store: StoreClient,
  { dataset, columns, rows, expected }: FocusSource,
  about: About,
  { format, isChecked }: Pick<FocusWay, "format" | "isChecked">,
): FocusExport<FileManifest & About> {
  const tally = createTally(columns);
  let outcome: CheckOutcome | undefined;
  async function* checked<Of>(
    parts: AsyncIterable<Of>,
    linesOf: (copy: AsyncIterable<Of>) => AsyncIterable<WrittenCells>,
  ): AsyncGenerator<Of> {
    outcome = yield* checkedOnTheWay(parts, (copy) => checkFocus(linesOf(copy), dataset, expected));
    if (outcome.count > 0) throw new FocusCheckError(outcome);
  }
  async function* withHeads(portions: AsyncIterable<readonly FocusCells[]>): AsyncGenerator<WrittenCells> {
    yield columns.map(({ name }) => name);
    for await (const some of portions) yield* some;
  }
  const cells = counted(rows, tally);
  const csv = focusCsv(columns, cells);
  const file = {
    csv: () => (isChecked ? checked(csv, readFocusCsv) : csv),
    parquet: () => focusParquet(store, columns, isChecked ? checked(cells, withHeads) : cells),
  };
  return {
    bytes: file[format](),
    manifest: () => ({
      focusVersion: dataset.version,
      dataset: dataset.name,
      ...about,
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

/** The part of the manifest of Cost and Usage that is known before a file is written. */
export type FocusAbout = Omit<FocusManifest, keyof FileManifest>;

/** Returns the manifest of Cost and Usage as far as it is known before a file is written. */
export function aboutOf(
  { kind, span, where }: Pick<ChargesQuestion, "kind" | "span" | "where">,
  { policy, currency, draft }: FocusSetting,
  runs: readonly string[],
  unpriced: readonly UnpricedTeam[],
): FocusAbout {
  const gpuHours = sum(unpriced.map((team) => amountOf<"gpu-hour">(team.gpuHours)));
  return {
    ...(draft && { focusDraft: draft }),
    policy,
    kind,
    from: new Date(span.from).toISOString(),
    until: new Date(span.until).toISOString(),
    where,
    currency,
    unpriced: { lines: unpricedLines(unpriced), gpuHours: formatAmount(gpuHours), teams: unpriced },
    runsHash: createHash("sha256").update(runs.join("\n")).digest("hex"),
  };
}
