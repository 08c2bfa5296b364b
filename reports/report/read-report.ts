import { groupedBy } from "../../domain/grouped.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { beginsWithTime, hasTrend, type ChargesQuestion, type ReportQuestion } from "../question/question.ts";
import { fromLines, type ChooseTable } from "../sums/tables.ts";
import { readCharged } from "./charged.ts";
import { compareKeys, readGroups, type GroupSums } from "./groups.ts";
import type { Report } from "./report.ts";
import { monthsIn, partBefore, type Span } from "../question/span.ts";
import { costOf, measuresOf, text, type LineSums } from "./sums.ts";

/** The options of reading a report. */
export interface ReadingOptions {
  /** True, the default, if the report is compared with the time before. */
  readonly isCompared?: boolean;
  /** The table that is added up: lines by default, or stored sums. */
  readonly chooseTable?: ChooseTable;
}

/** The book that prices the open charges of a report. */
export type PricedBy = Pick<PriceBook, "currency" | "isList">;

/** Reads one report like {@link readReports}, for one list of dimensions. Fails with the same errors. */
export async function readReport(
  store: StoreClient,
  { by, ...question }: ReportQuestion,
  book: PricedBy,
  options: ReadingOptions = {},
): Promise<Report> {
  const [report] = await readReports(store, question, [by], book, options);
  return report!;
}

/**
 * Reads the exact sums of a question's charges by each list of dimensions, and by default their increase. Fails with a `StoreError` or a
 * `TooManyGroupsError`.
 */
export async function readReports(
  store: StoreClient,
  question: ChargesQuestion,
  bys: readonly (readonly string[])[],
  book: PricedBy,
  { isCompared = true, chooseTable = fromLines }: ReadingOptions = {},
): Promise<readonly Report[]> {
  const { kind, span, compared } = question;
  const comparable = bys.filter((by) => isCompared && hasTrend({ by }));
  const [groups, charged] = await Promise.all([
    readGroups(store, question, bys, chooseTable),
    readCharged(store, span),
  ]);
  const isTrend = comparable.length > 0 && charged !== undefined;
  const earlier = isTrend ? (compared ?? partBefore(span, charged.hoursUntil)) : undefined;
  // The cost of a time before the first charge is unknown, not 0.
  const comparedWith = earlier !== undefined && charged!.since <= earlier.from ? earlier : undefined;
  const before =
    comparedWith === undefined
      ? []
      : await readGroups(
          store,
          { ...question, span: comparedWith, kind: kindBefore({ kind }, comparedWith) },
          comparable,
          chooseTable,
        );
  const chargedUntil = charged?.until ?? null;
  return bys.map((by, index) => {
    const sums = before[comparable.indexOf(by)];
    const past = comparedWith === undefined || sums === undefined ? undefined : { span: comparedWith, sums };
    return reportOf({ ...question, by }, book, chargedUntil, groups[index]!, past);
  });
}

function reportOf(
  question: ReportQuestion,
  { currency, isList }: PricedBy,
  chargedUntil: number | null,
  sums: readonly GroupSums[],
  past: { readonly span: Span; readonly sums: readonly GroupSums[] } | undefined,
): Report {
  const { policy, kind, span, by, where } = question;
  const groups = grouped(sums);
  const before = grouped(past?.sums ?? []);
  const keys = new Set([...groups.keys(), ...[...before].flatMap(([key, group]) => (costOf(group) === 0n ? [] : key))]);
  const unordered = [...keys].map((key) => ({
    values: (groups.get(key) ?? before.get(key)!)[0].values,
    sums: groups.get(key) ?? [],
    sumsBefore: before.get(key) ?? [],
  }));
  const byCost = (a: (typeof unordered)[number], b: (typeof unordered)[number]): number =>
    beginsWithTime({ by }) ? 0 : descending(costOf(a.sums), costOf(b.sums));
  return {
    policy,
    kind,
    span,
    chargedUntil,
    by,
    where,
    currency,
    prices: isList === true ? "list" : "book",
    comparedWith: past?.span ?? null,
    total: withTrend(sums, past?.sums ?? [], question, past !== undefined),
    rows: unordered
      .toSorted((a, b) => byCost(a, b) || compareKeys(a.values, b.values))
      .map(({ values, sums: ofGroup, sumsBefore }) => ({
        dimensions: Object.fromEntries(by.map((name, index) => [name, values[index]!])),
        ...withTrend(ofGroup, sumsBefore, question, past !== undefined),
      })),
  };
}

function grouped(sums: readonly GroupSums[]): ReadonlyMap<string, readonly [GroupSums, ...GroupSums[]]> {
  return groupedBy(sums, ({ values }) => JSON.stringify(values));
}

function withTrend(
  sums: readonly LineSums[],
  earlier: readonly LineSums[],
  { kind }: ReportQuestion,
  isCompared: boolean,
): Report["total"] {
  const measures = measuresOf(sums, kind === "chargeback");
  if (!isCompared) return { ...measures, before: null, change: null };
  return { ...measures, before: text(costOf(earlier)), change: text(costOf(sums) - costOf(earlier)) };
}

/**
 * Returns the kind of the comparison. A running month is compared with a part of the month before. For a part, only a showback is possible.
 */
function kindBefore({ kind }: Pick<ReportQuestion, "kind">, comparedWith: Span): ReportQuestion["kind"] {
  return monthsIn(comparedWith).length > 0 ? kind : "showback";
}

function descending(a: bigint, b: bigint): number {
  return a > b ? -1 : a < b ? 1 : 0;
}
