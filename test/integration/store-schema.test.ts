import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rational } from "../../domain/exact/rational.ts";
import { lastUnits, type Quantity } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import {
  columnsOf,
  createBlocks,
  namesOf,
  rowReader,
  selectionOf,
  type RowOf,
} from "../../runtime/store/schema/table.ts";
import { TABLES } from "../../runtime/store/schema/tables.ts";
import * as types from "../../runtime/store/schema/types.ts";
import { createTestDatabase } from "../support/database.ts";

/** The dictionary of a text is internal to the store. */
const withoutDictionary = (type: string): string => type.replace(/^LowCardinality\((.*)\)$/, "$1");

const TYPES = {
  id: types.uint32,
  text: types.text,
  manyTexts: types.manyTexts,
  longText: types.longText,
  uuid: types.uuid,
  moment: types.moment,
  day: types.day,
  uint16: types.uint16,
  uint64: types.uint64,
  wideUint64: types.wideUint64,
  int64: types.int64,
  bool: types.bool,
  nullableUInt16: types.nullableUInt16,
  amount: types.amount,
  nullableAmount: types.nullableAmount,
  nullableInteger: types.nullableInteger,
  fraction: types.fraction,
  labels: types.labels,
  counts: types.counts,
  texts: types.arrayOf(types.longText),
  wides: types.arrayOf(types.wideUint64),
  moments: types.arrayOf(types.moment),
  bools: types.arrayOf(types.bool),
};

/** All columns except those that can be NULL. */
const REQUIRED = Object.entries(TYPES).flatMap(([name, type]) =>
  name === "id" || type.sql.startsWith("Nullable(") ? [] : (name as never),
);
const ofAmounts = fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }).map((units) => lastUnits<Quantity>(units));
const texts = fc.oneof(fc.constantFrom("", "a", "b\n\n;'\\"), fc.string({ unit: "grapheme", maxLength: 300 }));
const names = fc.string({ maxLength: 10 });
const moments = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
const wides = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const dictionary = <Value>(value: fc.Arbitrary<Value>) => fc.dictionary(names, value, { noNullPrototype: true });
const ROWS: fc.Arbitrary<Omit<RowOf<typeof TYPES>, "id">> = fc.record(
  {
    text: texts,
    manyTexts: texts,
    longText: texts,
    uuid: fc.uuid(),
    moment: moments,
    day: fc.integer({ min: 0, max: 60_000 }).map((days) => days * 86_400_000),
    uint16: fc.nat({ max: 65_535 }),
    uint64: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    wideUint64: wides,
    int64: fc.maxSafeInteger(),
    bool: fc.boolean(),
    nullableUInt16: fc.nat({ max: 65_535 }),
    amount: ofAmounts,
    nullableAmount: ofAmounts,
    nullableInteger: fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }),
    fraction: fc.tuple(fc.integer(), fc.integer({ min: 1 })).map(([num, den]) => rational(num, den)),
    labels: dictionary(texts),
    counts: dictionary(fc.nat()),
    texts: fc.array(texts, { maxLength: 5 }),
    wides: fc.array(wides, { maxLength: 5 }),
    moments: fc.array(moments, { maxLength: 5 }),
    bools: fc.array(fc.boolean(), { maxLength: 5 }),
  },
  { requiredKeys: REQUIRED },
) as never;

describe("rows of every type", () => {
  let store: StoreClient;
  const columns = columnsOf(TYPES);
  beforeAll(async () => {
    store = await createTestDatabase("types");
    const declared = columns.map(({ name, type }) => `\`${name}\` ${type.sql}`);
    await store.command(`CREATE TABLE rows (${declared.join(", ")}) ENGINE = MergeTree ORDER BY id`);
  });
  afterAll(() => store.close());

  it("are read as they were written, in any number of blocks", async () => {
    const rows = fc.sample(ROWS, { numRuns: 500, seed: 33 });
    const blocks = createBlocks<object>(columns);
    // The same rows repeated, in more than one block.
    const written = Array.from({ length: 9_000 }, (_, id) => ({ id, ...rows[id % rows.length]! }));
    for (const row of written) blocks.write(row);
    await store.insertRows("rows", namesOf(columns), blocks.take());
    const read = rowReader(columns);
    const found = await store.query<Record<string, unknown>>(`SELECT ${selectionOf(columns)} FROM rows ORDER BY id`);
    const empty = { nullableUInt16: undefined, nullableAmount: undefined, nullableInteger: undefined };
    for (const [id, row] of found.entries()) expect(read(row)).toEqual({ ...empty, ...written[id]! });
    expect(found).toHaveLength(written.length);
  });

  it("are refused if a number does not fit", () => {
    const blocks = createBlocks<object>(columnsOf({ small: types.uint16 }));
    for (const small of [-1, 65_536, Number.NaN]) expect(() => blocks.write({ small })).toThrow(RangeError);
  });
});

/** Columns that a migration computes from others, and that readers select by name. */
const COMPUTED: Readonly<Record<string, readonly string[]>> = { workload_facts: ["gang"] };
/** Views with the columns of a table, except those that name runs and parts. */
const VIEWS = {
  charges_published: "charges",
  usage_hours_published: "usage_hours",
  gpu_5m_published: "gpu_5m",
  gpu_hours_published: "gpu_hours",
  charges_summed: "charge_sums",
  workload_charges_summed: "charge_workload_sums",
};
const OF_PARTS = ["run_id", "part_id", "dearest"];

describe("the tables of the migrations are those that the program writes and reads", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("schema");
  });
  afterAll(() => store.close());

  async function declared(table: string): Promise<Readonly<Record<string, string>>> {
    const rows = await store.query<{ name: string; type: string }>(
      "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}",
      { table },
    );
    return Object.fromEntries(rows.map(({ name, type }) => [name, withoutDictionary(type)]));
  }

  const plain = (types: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(types).map(([name, type]) => [name, withoutDictionary(type)]));
  const without = (types: Readonly<Record<string, string>>, names: readonly string[] = []) =>
    Object.fromEntries(Object.entries(types).filter(([name]) => !names.includes(name)));

  it("all of them", async () => {
    const tables = await store.query<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine NOT LIKE '%View' ORDER BY name",
    );
    expect(tables.map(({ name }) => name)).toEqual(Object.keys(TABLES).toSorted());
  });

  it.each(Object.keys(TABLES))("%s", async (table) => {
    expect(without(await declared(table), COMPUTED[table])).toEqual(plain(TABLES[table]!.columns));
  });

  it.each(Object.entries(VIEWS))("%s has the columns of %s", async (view, table) => {
    const names = view.endsWith("_summed") ? OF_PARTS : [];
    expect(await declared(view)).toEqual(without(plain(TABLES[table]!.columns), names));
  });
});
