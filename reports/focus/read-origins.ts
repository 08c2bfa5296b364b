import type { ChargeState } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { Payer } from "../../domain/policy/policy.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { CHARGE_COLUMNS, type ChargeColumn } from "../../runtime/store/schema/charges.ts";
import { OF_RUNS } from "../lines/fixed.ts";
import { sqlOf } from "../question/question.ts";
import { byOrigin } from "./by-origin.ts";
import type { Origin, Part } from "./part.ts";
import { DAY_SQL, ofDay, portionsOf, type FocusPlan, type NodesOfDay } from "./plan.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

/** The names of {@link Origin} and {@link Part} whose values are texts. */
type OriginText = TextOf<Origin>;
type PartText = TextOf<Omit<Part, "origin">>;
type TextOf<Of> = { [Name in keyof Of]-?: Of[Name] extends string ? Name : never }[keyof Of];

/** Returns the text columns that all lines of an origin, or of a part, have in common. */
const textsInCommon = (focus: ChargeColumn["focus"]): Readonly<Record<string, string>> =>
  Object.fromEntries(CHARGE_COLUMNS.flatMap((column) => (column.focus === focus ? [[column.as, column.name]] : [])));
const ORIGIN_TEXTS = textsInCommon("origin") as Readonly<Record<OriginText, string>>;
const PART_TEXTS = textsInCommon("part") as Readonly<Record<PartText, string>>;

/** A part as stored: times in milliseconds, amounts as texts. */
type PartRow = Readonly<Record<OriginText | PartText, string>> & {
  readonly billing: number;
  readonly correction: number | boolean;
  readonly day: number;
  readonly end: number;
  readonly gpu: number | null;
  readonly since: number;
  readonly asked: number | boolean;
  readonly tags: string;
  readonly lines: number;
  readonly millis: number;
  readonly hours: string;
  readonly list: string;
  readonly contracted: string;
  readonly effective: string;
  readonly power: string | null;
  readonly energy: string | null;
  readonly carbon: string | null;
};

const textSql = (texts: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(texts).map(([name, column]) => (name === column ? name : `${column} AS ${name}`));

/**
 * SQL of an origin. A true-up is of a month and begins on one of its days. Such a line ends at its own end; all others end with their day.
 */
const ORIGIN_SQL = [
  "toFloat64(toUnixTimestamp(toDateTime(billing_period, 'UTC'))) * 1000 AS billing",
  "corrects != '' AS correction",
  `${DAY_SQL} AS day`,
  `greatest(${DAY_SQL} + ${DAY_MILLIS}, toFloat64(toUnixTimestamp64Milli(until_at))) AS end`,
  "slot AS gpu",
  "toFloat64(toUnixTimestamp64Milli(priced_since)) AS since",
  ...textSql(ORIGIN_TEXTS),
];
const SUMS_SQL = [
  "toFloat64(count()) AS lines",
  "toFloat64(sum(toUnixTimestamp64Milli(until_at) - toUnixTimestamp64Milli(from_at))) AS millis",
  "toString(sum(gpu_hours)) AS hours",
  "toString(sum(list_cost)) AS list",
  "toString(sum(contracted_cost)) AS contracted",
  "toString(sum(effective_cost)) AS effective",
  "toString(sum(power_cost)) AS power",
  "toString(sum(energy_mj)) AS energy",
  "toString(sum(carbon_grams)) AS carbon",
];
const ORIGIN_NAMES = [
  "day",
  "cluster",
  "node",
  "gpu",
  "billing",
  "correction",
  "end",
  "since",
  ...Object.keys(ORIGIN_TEXTS),
];
const PART_NAMES = [...Object.keys(PART_TEXTS), "tags", "asked"];

/**
 * Reads the priced lines of a plan, origin by origin, with all parts of each and at least one requested part. Days are in the order of
 * time. Fails with a `StoreError`, and at the end with a `LinesReplacedError`.
 */
export async function* readOrigins(store: StoreClient, plan: FocusPlan): AsyncGenerator<readonly [Part, ...Part[]]> {
  for await (const portion of portionsOf(store, plan)) yield* originsIn(store, plan, portion);
}

async function* originsIn(
  store: StoreClient,
  { question, fixed }: FocusPlan,
  { day, cluster, nodes }: NodesOfDay,
): AsyncGenerator<readonly [Part, ...Part[]]> {
  const asked = sqlOf(question);
  const all = sqlOf(fixed.question);
  const columns = [
    ...ORIGIN_SQL,
    ...textSql(PART_TEXTS),
    "toJSONString(mapSort(labels)) AS tags",
    `${asked.where} AS asked`,
  ];
  // The name of a column can equal a column of the table to which a condition refers. So the conditions are in the inner query.
  const select = `SELECT ${[...columns, ...SUMS_SQL].join(", ")} FROM (SELECT * FROM charges
      WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)} AND ${ofDay(day).where}
        AND ${OF_RUNS} AND ${all.where} AND effective_cost IS NOT NULL)
    GROUP BY ALL ORDER BY ${[...new Set([...ORIGIN_NAMES, ...PART_NAMES])].join(", ")}`;
  const parameters = { ...asked.parameters, ...ofDay(day).parameters, runs: fixed.runs, cluster, nodes };
  yield* byOrigin(store.stream<PartRow>(select, parameters), ORIGIN_NAMES, (row, origin) =>
    partOf(row, origin ?? originOf(row, question)),
  );
}

/**
 * Returns the origin of a row. A showback of some hours contains only those hours of a day. A chargeback contains whole days, of any month.
 */
function originOf(row: PartRow, { kind, span }: FocusPlan["question"]): Origin {
  const isShowback = kind === "showback";
  return {
    ...textsOf(row, ORIGIN_TEXTS),
    billingPeriod: row.billing,
    isCorrection: Boolean(row.correction),
    from: isShowback ? Math.max(row.day, span.from) : row.day,
    until: isShowback && row.end === row.day + DAY_MILLIS ? Math.min(row.end, span.until) : row.end,
    service: undefined,
    slot: row.gpu ?? undefined,
    pricedSince: row.since,
  };
}

function partOf(row: PartRow, origin: Origin): Part {
  const { state, payer, lines, millis, power, energy, carbon } = row;
  return {
    ...textsOf(row, PART_TEXTS),
    origin,
    work: undefined,
    isAskedFor: Boolean(row.asked),
    state: state as ChargeState,
    payer: payer as Payer,
    labels: JSON.parse(row.tags) as Readonly<Record<string, string>>,
    lines,
    millis,
    gpuHours: amountOf(row.hours),
    list: amountOf(row.list),
    contracted: amountOf(row.contracted),
    effective: amountOf(row.effective),
    power: power === null ? undefined : amountOf(power),
    millijoules: energy === null ? undefined : BigInt(energy),
    carbon: carbon === null ? undefined : amountOf(carbon),
  };
}

function textsOf<Name extends string>(
  row: Readonly<Record<NoInfer<Name>, string>>,
  texts: Readonly<Record<Name, string>>,
): Readonly<Record<Name, string>> {
  const names = Object.keys(texts) as Name[];
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Record<Name, string>;
}
