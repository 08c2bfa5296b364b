import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { CHARGE_COLUMNS, RUN_ID, type ChargeColumn } from "../../runtime/store/schema/charges.ts";
import type { Column } from "../../runtime/store/schema/table.ts";
import { createTestDatabase } from "../support/database.ts";

const kept = (...kinds: readonly ChargeColumn["sums"][]): readonly Column[] =>
  CHARGE_COLUMNS.filter(({ sums }) => sums !== undefined && kinds.includes(sums));
const SUMS = { is_held: "Bool", lines: "UInt64" };
const OF_PARTS = { run_id: "UUID", part_id: "UUID", dearest: "Nullable(Decimal(38, 9))" };

/** A cluster's hour has few billing periods and closings, whatever the table of lines declares. */
const withoutDictionary = (type: string): string => type.replace(/^LowCardinality\((.*)\)$/, "$1");

describe("the tables that the migrations make are those that the program writes and reads", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("schema");
  });
  afterAll(() => store.close());

  it.each<[string, readonly Column[], Readonly<Record<string, string>>]>([
    ["charges", [RUN_ID, ...CHARGE_COLUMNS], {}],
    ["charges_published", [RUN_ID, ...CHARGE_COLUMNS], {}],
    ["charge_sums", kept("key", "amount"), { ...SUMS, ...OF_PARTS }],
    ["charges_summed", kept("key", "amount"), SUMS],
    ["charge_workload_sums", kept("key", "workload", "amount"), { ...SUMS, ...OF_PARTS }],
    ["workload_charges_summed", kept("key", "workload", "amount"), SUMS],
  ])("%s", async (table, columns, others) => {
    const declared = await store.query<{ name: string; type: string }>(
      "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}",
      { table },
    );
    const expected = { ...Object.fromEntries(columns.map(({ name, type }) => [name, type.sql])), ...others };
    const plain = (types: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(types).map(([name, type]) => [name, withoutDictionary(type)]));
    expect(plain(Object.fromEntries(declared.map(({ name, type }) => [name, type])))).toEqual(plain(expected));
  });
});
