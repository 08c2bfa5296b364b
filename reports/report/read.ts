import type { ChargeState } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { hasTrend, sqlOf, type ReportQuestion } from "../question/question.ts";
import type { Report, ReportRow } from "./report.ts";
import { monthsIn, spanBefore, spanText, type Span } from "../question/span.ts";
import { costOf, measuresOf, text, type LineSums } from "./sums.ts";

/** More sums than this are not read at once: a report is for people, lines are exported. */
const MOST_SUMS = 500_000;

/** A question has more groups than a report may have. */
export class TooManyGroupsError extends Error {
  readonly code = "too-many-groups";
  readonly retriable = false;

  constructor() {
    super(`these dimensions make more than ${MOST_SUMS} sums: group by fewer, or ask for less with --where`);
    this.name = "TooManyGroupsError";
  }
}

/**
 * Reads what the charges of a question come to, exactly, and unless it is told not to, what they have become more. Fails with a
 * `StoreError`, or a {@link TooManyGroupsError}.
 */
export async function readReport(
  store: StoreClient,
  question: ReportQuestion,
  currency: string,
  { isCompared = true }: { readonly isCompared?: boolean } = {},
): Promise<Report> {
  const { policy, kind, span, by } = question;
  const [groups, charged] = await Promise.all([readGroups(store, question), readCharged(store, span)]);
  const chargedUntil = charged?.until ?? null;
  const isComparable = isCompared && hasTrend(question);
  const earlier = isComparable && charged !== undefined ? partBefore(span, charged.until) : undefined;
  // Of a time before the first charge nothing is known: it did not cost 0.
  const comparedWith = earlier !== undefined && charged!.since <= earlier.from ? earlier : null;
  const before =
    comparedWith === null
      ? new Map<string, Group>()
      : await readGroups(store, { ...question, span: comparedWith, kind: kindBefore(question, comparedWith) });
  const rowOf = ({ values, sums }: Group, sumsBefore: readonly LineSums[]): ReportRow => ({
    dimensions: Object.fromEntries(by.map((name, place) => [name, values[place]!])),
    ...withTrend(sums, sumsBefore, question, comparedWith !== null),
  });
  const keys = new Set([
    ...groups.keys(),
    ...[...before].flatMap(([key, { sums }]) => (costOf(sums) === 0n ? [] : key)),
  ]);
  const rows = [...keys].map((key) => ({
    group: groups.get(key) ?? { values: before.get(key)!.values, sums: [] },
    sumsBefore: before.get(key)?.sums ?? [],
  }));
  return {
    policy,
    kind,
    span,
    chargedUntil,
    by,
    where: question.where,
    currency,
    comparedWith,
    total: withTrend(sumsOf(groups), sumsOf(before), question, comparedWith !== null),
    rows: rows
      .toSorted((a, b) => descending(costOf(a.group.sums), costOf(b.group.sums)) || inOrder(a.group, b.group))
      .map(({ group, sumsBefore }) => rowOf(group, sumsBefore)),
  };
}

interface Group {
  readonly values: readonly string[];
  readonly sums: LineSums[];
}

function sumsOf(groups: ReadonlyMap<string, Group>): readonly LineSums[] {
  return [...groups.values()].flatMap(({ sums }) => sums);
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

/** As long a time before a span as is charged of the span. */
function partBefore(span: Span, chargedUntil: number): Span {
  const { from, until } = spanBefore(span);
  const part = { from, until: Math.min(until, from + (chargedUntil - span.from)) };
  return chargedUntil >= span.until
    ? { from, until, name: spanText({ from, until }) }
    : { ...part, name: spanText(part) };
}

/** A month that runs is compared with a part of the month before, of which only what it was charged for can be told. */
function kindBefore({ kind }: ReportQuestion, comparedWith: Span): ReportQuestion["kind"] {
  return monthsIn(comparedWith).length > 0 ? kind : "showback";
}

function descending(a: bigint, b: bigint): number {
  return a > b ? -1 : a < b ? 1 : 0;
}

function inOrder({ values: a }: Group, { values: b }: Group): number {
  const place = a.findIndex((value, index) => value !== b[index]);
  return place < 0 ? 0 : a[place]! < b[place]! ? -1 : 1;
}

const CHARGED = `
SELECT min(start) AS since, maxIf(start, start >= {from:Int64} AND start < {until:Int64}) + 3600000 AS until
FROM (SELECT toFloat64(toUnixTimestamp(window_start)) * 1000 AS start FROM charge_runs WHERE kind = 'charge')`;

/** Since when anything is charged, and until when in a span; undefined where nothing of the span is. */
async function readCharged(
  store: StoreClient,
  { from, until }: Span,
): Promise<{ readonly since: number; readonly until: number } | undefined> {
  const [row] = await store.query<{ since: number; until: number }>(CHARGED, { from, until });
  return row === undefined || row.until <= from ? undefined : row;
}

interface SumsRow extends Readonly<Record<"state" | "hours" | "list" | "contracted" | "effective" | "power", string>> {
  readonly keys: readonly string[];
  readonly held: boolean | number;
  readonly priced: boolean | number;
  readonly correction: boolean | number;
  readonly lines: number;
  readonly energy: string | null;
  readonly carbon: string | null;
}

async function readGroups(store: StoreClient, question: ReportQuestion): Promise<ReadonlyMap<string, Group>> {
  const { columns, where, parameters } = sqlOf(question, question.by);
  const rows = await store.query<SumsRow>(
    `SELECT [${columns.map((column) => `toString(${column})`).join(", ")}]::Array(String) AS keys, state,
       holder != '' AS held, effective_cost IS NOT NULL AS priced, corrects != '' AS correction,
       toFloat64(count()) AS lines, toString(sum(gpu_hours)) AS hours, toString(sum(ifNull(list_cost, 0))) AS list,
       toString(sum(ifNull(contracted_cost, 0))) AS contracted, toString(sum(ifNull(effective_cost, 0))) AS effective,
       toString(sum(ifNull(power_cost, 0))) AS power, toString(sum(energy_mj)) AS energy, toString(sum(carbon_grams)) AS carbon
     FROM charges_published WHERE ${where}
     GROUP BY keys, state, held, priced, correction
     LIMIT ${MOST_SUMS + 1}`,
    parameters,
  );
  if (rows.length > MOST_SUMS) throw new TooManyGroupsError();
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const key = JSON.stringify(row.keys);
    const group = groups.get(key) ?? { values: row.keys, sums: [] };
    groups.set(key, group);
    group.sums.push(lineSums(row));
  }
  return groups;
}

function lineSums({ state, held, priced, correction, lines, energy, carbon, ...amounts }: SumsRow): LineSums {
  return {
    state: state as ChargeState,
    isHeld: Boolean(held),
    isPriced: Boolean(priced),
    isCorrection: Boolean(correction),
    lines,
    gpuHours: amountOf(amounts.hours),
    list: amountOf(amounts.list),
    contracted: amountOf(amounts.contracted),
    effective: amountOf(amounts.effective),
    power: amountOf(amounts.power),
    millijoules: energy === null ? undefined : BigInt(energy),
    carbon: carbon === null ? undefined : amountOf(carbon),
  };
}
