import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { METRICS } from "../../../domain/metric.ts";
import { createSampleColumns } from "../../../processors/sample-columns.ts";
import { SCRAPE_COLUMNS } from "../../../processors/scrape-rows.ts";

const SQL = readFileSync("runtime/store/migrations/0001_samples.sql", "utf8");
const ADDED = readFileSync("runtime/store/migrations/0004_holders.sql", "utf8").matchAll(
  /ADD COLUMN IF NOT EXISTS (\w+) ([\w()]+)/g,
);

/** Columns of a table as its migration declares them, with their types. */
function columnsOf(table: string): Map<string, string> {
  const body = SQL.split(`CREATE TABLE IF NOT EXISTS ${table} `)[1]!.split("ENGINE =")[0]!;
  const lines = body.matchAll(
    /^ {2}(\w+) ((?:Nullable|LowCardinality|Map|Decimal|DateTime64)\(.*?\)+|\w+)(?: CODEC|,$)/gm,
  );
  return new Map([...lines].map((match) => [match[1]!, match[2]!]));
}

describe("the tables of samples", () => {
  it("have every column that is written, in the type in which it is sent, and no other", () => {
    const declared = new Map([
      ...columnsOf("gpu_samples"),
      ...[...ADDED].map(([, name, type]) => [name!, type!] as const),
    ]);
    const sent = createSampleColumns().columns.map(({ name, type }) => [name, type] as const);
    // Texts are sent by a dictionary, whether or not the table keeps one.
    const asSent = [...declared].map(
      ([name, type]) => [name, type === "String" ? "LowCardinality(String)" : type] as const,
    );
    expect(new Map(sent)).toEqual(new Map(asSent));
    expect([...columnsOf("scrapes").keys()].sort()).toEqual([...SCRAPE_COLUMNS].sort());
  });

  it("keep each canonical metric in the exact type of its unit, never as a floating-point number", () => {
    const types = columnsOf("gpu_samples");
    const expected = {
      ratio: "Nullable(Decimal(9, 6))",
      celsius: "Nullable(Decimal(9, 3))",
      watts: "Nullable(Decimal(9, 3))",
      joules: "Nullable(Decimal(18, 3))",
      seconds: "Nullable(Decimal(18, 6))",
    } as const;
    const declared = METRICS.map(({ name }) => [name, types.get(name)]);
    const wanted = METRICS.map(({ name, unit }) => [
      name,
      unit in expected ? expected[unit as keyof typeof expected] : "Nullable(UInt64)",
    ]);
    expect(declared).toEqual(wanted);
  });
});
