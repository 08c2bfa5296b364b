import { describe, expect, it } from "vitest";
import {
  matches,
  MOST_OF_SERVING_UNIT,
  servingAliases,
  type SeriesName,
  type ServingDialect,
} from "../../../../domain/serving/dialect/dialect.ts";
import { knownSeries, SERVING_DIALECTS } from "../../../../domain/serving/dialect/known.ts";
import { SERVING_METRIC_BY_NAME } from "../../../../domain/serving/metric.ts";

const NAMED = SERVING_DIALECTS.map((dialect) => [dialect.exporter, dialect] as const);
const textOf = (name: SeriesName): string => (typeof name === "string" ? name : name[0]);
const namesOf = ({ table }: ServingDialect): readonly string[] =>
  table.flatMap(({ names }) =>
    names.flatMap((entry) => (typeof entry === "object" && "all" in entry ? entry.all.map(textOf) : [textOf(entry)])),
  );

/** The factors that convert a unit of the base units of Prometheus, or of a plain count. */
const FACTORS: Readonly<Record<string, readonly number[]>> = {
  tokens: [1],
  requests: [1],
  count: [1],
  microseconds: [1, 1e6],
  gigaflops: [1e-9],
  megabytes: [1e-6],
  nanos: [1e9],
  ppm: [1e6],
};

describe("the dialects of engines and gateways", () => {
  it.each(NAMED)("%s fills canonical metrics, by names that only this program owns", (_, dialect) => {
    for (const { column, factor } of dialect.table)
      expect(FACTORS[SERVING_METRIC_BY_NAME.get(column)!.unit]).toContain(factor);
    for (const name of namesOf(dialect)) {
      expect(name).not.toMatch(/_total$/);
      expect(SERVING_DIALECTS.filter(({ owns }) => owns(name))).toEqual([dialect]);
      expect(knownSeries(name)?.aliases).not.toEqual([]);
    }
  });

  it.each(NAMED)("%s adds and leaves out only columns that it fills", (_, { table, totals = {}, unless = {} }) => {
    const filled = new Set(table.map(({ column }) => column));
    for (const [column, parts] of Object.entries(totals)) {
      expect(SERVING_METRIC_BY_NAME.has(column)).toBe(true);
      for (const part of parts) expect(filled).toContain(part);
    }
    for (const [column, others] of Object.entries(unless))
      for (const each of [column, ...others]) expect(filled).toContain(each);
  });

  it.each(NAMED)("only a gateway has tenants, and %s has labels for the model", (_, { kind, tenant, model }) => {
    expect(tenant !== undefined).toBe(kind === "gateway");
    expect(model.length).toBeGreaterThan(0);
  });

  it("find a counter with and without _total, and the time of its start", () => {
    const aliases = servingAliases([
      { column: "queue_us", factor: 1e6, names: ["queue_seconds_sum"] },
      { column: "prompt_tokens", factor: 1, names: ["prompt_tokens", "old_tokens"] },
      { column: "running", factor: 1, names: ["running"] },
    ]);
    const columns = (name: string): readonly string[] => aliases(name).map(({ column }) => column);
    expect(columns("prompt_tokens_total")).toEqual(["prompt_tokens"]);
    expect(columns("prompt_tokens")).toEqual(["prompt_tokens"]);
    expect(columns("queue_seconds_sum")).toEqual(["queue_us"]);
    expect(columns("queue_seconds_count")).toEqual([]);
    expect(columns("queue_seconds_created")).toEqual(["created_ms"]);
    expect(columns("prompt_tokens_created")).toEqual(["created_ms"]);
    expect(columns("running_created")).toEqual([]);
    expect(aliases("prompt_tokens")[0]!.rank).toBeLessThan(aliases("old_tokens_total")[0]!.rank);
  });

  it("require the values of labels, where an empty text stands for an absent label", () => {
    const labels = new Map([["mode", "b"]]);
    expect(matches({}, labels)).toBe(true);
    expect(matches({ when: { mode: ["a", "b"] } }, labels)).toBe(true);
    expect(matches({ when: { mode: "a" } }, labels)).toBe(false);
    expect(matches({ when: { mode: "b", other: "" } }, labels)).toBe(true);
    expect(matches({ when: { mode: ["total", ""] } }, new Map())).toBe(true);
  });

  it("have values that a double holds exactly", () => {
    for (const most of Object.values(MOST_OF_SERVING_UNIT)) expect(Number.isSafeInteger(most)).toBe(true);
  });
});
