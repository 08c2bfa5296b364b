import { amountOf, formatAmount, LAST_UNIT_DIGITS, lastUnits, type Quantity } from "../../domain/exact/units.ts";
import { kWhOf } from "../../domain/energy/carbon.ts";
import { roundedDecimal } from "../../domain/exact/rational.ts";
import type { ServingDimension } from "../../domain/serving/dimension.ts";
import { PHASES, type Phase } from "../../domain/serving/split-rule.ts";
import { unitCosts, type ServingSums, type UnitCosts } from "../../domain/serving/unit-cost.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { compareKeys, TooManyGroupsError } from "../report/groups.ts";
import { servingSql, type ServingQuestion } from "./question.ts";

/** The cost of serving of some lines. Amounts are exact decimals. */
export interface ServingMeasures {
  readonly gpuHours: string;
  readonly list: string;
  readonly contracted: string;
  /** The effective cost, which is charged. */
  readonly cost: string;
  /** The cost of each phase that has one. */
  readonly phases: Readonly<Partial<Record<Phase, string>>>;
  readonly computedTokens: string;
  readonly cachedTokens: string;
  readonly generatedTokens: string;
  readonly requests: string;
  readonly inferences: string;
  /** Tokens that gateways counted beyond the engines. */
  readonly excessTokens: string;
  /** The cost that cached tokens would have added. */
  readonly saved: string;
  /** The price that gateways have charged; null if they have charged none. */
  readonly gatewayPrice: string | null;
  /** The price of the gateways minus the cost; negative for a subsidy. */
  readonly margin: string | null;
  readonly kWh: string | null;
  readonly carbonGrams: string | null;
  readonly unitCosts: UnitCosts;
}

/** A row of a report about serving. */
export interface ServingRow extends ServingMeasures {
  readonly dimensions: Readonly<Partial<Record<ServingDimension, string>>>;
}

/** The answer to a question about serving: rows with the highest cost first, and the sums of all rows. */
export interface ServingReport extends ServingQuestion {
  readonly currency: string;
  readonly total: ServingMeasures;
  readonly rows: readonly ServingRow[];
}

/** The limit of rows in one answer. */
const MOST_ROWS = 100_000;

const COUNTS = [
  "computed_tokens",
  "cached_tokens",
  "generated_tokens",
  "requests",
  "inferences",
  "excess_tokens",
  "spend_nanos",
] as const;
const AMOUNTS = ["gpu_hours", "list_cost", "contracted_cost", "effective_cost", "saved_cost"] as const;

type SumsRow = Readonly<Record<(typeof COUNTS)[number] | (typeof AMOUNTS)[number], string>> & {
  readonly keys: readonly string[];
  readonly isTotal: number;
  readonly phases: Readonly<Record<Phase, string>>;
  readonly energy: string | null;
  readonly carbon: string | null;
};

/** Reads the exact sums of a question. Fails with a `StoreError` or a {@link TooManyGroupsError}. */
export async function readServing(
  store: Pick<StoreClient, "query">,
  question: ServingQuestion,
  currency: string,
): Promise<ServingReport> {
  const { columns, where, parameters } = servingSql(question);
  const keys = columns.map((_, index) => `key${index}`);
  const rows = await store.query<SumsRow>(
    `SELECT [${keys.join(", ")}]::Array(String) AS keys,
       ${keys.length === 0 ? "1" : `grouping(${keys.join(", ")}) > 0`} AS isTotal,
       ${AMOUNTS.map((name) => `toString(sum(ifNull(lines.${name}, 0))) AS ${name}`).join(", ")},
       ${COUNTS.map((name) => `toString(sum(lines.${name})) AS ${name}`).join(", ")},
       sumMap(map(toString(phase), ifNull(lines.effective_cost, 0)))::Map(String, String) AS phases,
       toString(sum(energy_mj)) AS energy, toString(sum(carbon_grams)) AS carbon
     FROM (
       SELECT *${columns.map((column, index) => `, toString(${column}) AS key${index}`).join("")}
       FROM serving_charges_published WHERE ${where}
     ) AS lines
     GROUP BY GROUPING SETS (${[...new Set([`(${keys.join(", ")})`, "()"])].join(", ")})
     LIMIT ${MOST_ROWS + 2}`,
    parameters,
  );
  if (rows.length > MOST_ROWS + 1) throw new TooManyGroupsError();
  const total = rows.find(({ isTotal }) => Boolean(isTotal));
  const groups = keys.length === 0 ? [] : rows.filter(({ isTotal }) => !isTotal);
  return {
    ...question,
    currency,
    total: measuresOf(total),
    rows: groups
      .toSorted(
        (a, b) => compare(amountOf(b.effective_cost), amountOf(a.effective_cost)) || compareKeys(a.keys, b.keys),
      )
      .map((row) => ({
        dimensions: Object.fromEntries(question.by.map((name, index) => [name, row.keys[index]!])),
        ...measuresOf(row),
      })),
  };
}

function measuresOf(row: SumsRow | undefined): ServingMeasures {
  const amount = (name: (typeof AMOUNTS)[number]): bigint => amountOf(row?.[name] ?? "0");
  const count = (name: (typeof COUNTS)[number]): bigint => BigInt(row?.[name] ?? "0");
  const phase = (name: Phase): bigint => amountOf(row?.phases[name] ?? "0");
  const cost = amount("effective_cost");
  const price = count("spend_nanos");
  const { energy = null, carbon = null } = row ?? {};
  const sums: ServingSums = {
    cost,
    prefillCost: phase("prefill"),
    decodeCost: phase("decode"),
    inferenceCost: phase("inference"),
    gpuHours: amount("gpu_hours"),
    computedTokens: count("computed_tokens"),
    generatedTokens: count("generated_tokens"),
    requests: count("requests"),
    inferences: count("inferences"),
  };
  return {
    gpuHours: text(sums.gpuHours),
    list: text(amount("list_cost")),
    contracted: text(amount("contracted_cost")),
    cost: text(cost),
    phases: Object.fromEntries(PHASES.flatMap((name) => (phase(name) === 0n ? [] : [[name, text(phase(name))]]))),
    computedTokens: String(sums.computedTokens),
    cachedTokens: String(count("cached_tokens")),
    generatedTokens: String(sums.generatedTokens),
    requests: String(sums.requests),
    inferences: String(sums.inferences),
    excessTokens: String(count("excess_tokens")),
    saved: text(amount("saved_cost")),
    gatewayPrice: price === 0n ? null : text(price),
    margin: price === 0n ? null : text(price - cost),
    kWh: energy === null ? null : roundedDecimal(kWhOf(BigInt(energy)), LAST_UNIT_DIGITS),
    carbonGrams: carbon === null ? null : text(amountOf(carbon)),
    unitCosts: unitCosts(sums),
  };
}

function text(amount: bigint): string {
  return formatAmount(lastUnits<Quantity>(amount));
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
