import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { takeBlock } from "../../runtime/store/native/block.ts";
import { decimalColumn, numberColumn } from "../../runtime/store/native/numbers.ts";
import { mapColumn, textColumn, textKeys } from "../../runtime/store/native/texts.ts";
import { createByteWriter } from "../../runtime/store/native/byte-writer.ts";
import { uuid } from "../../runtime/store/schema/types.ts";
import { createTestDatabase } from "../support/database.ts";

/** The values of a row of the table; a missing value is the default. */
interface Row {
  readonly id: number;
  readonly name?: string;
  readonly key?: string;
  readonly small?: number;
  readonly ratio?: number;
  readonly large?: number;
  readonly signed?: number;
  readonly flag?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly other?: Readonly<Record<string, number>>;
}

const TABLE = `
CREATE TABLE blocks (
  id UInt32, name LowCardinality(String), key String, small UInt16, ratio Nullable(Decimal(9, 6)), large Nullable(UInt64),
  signed Nullable(Decimal(18, 3)), flag Bool, labels Map(LowCardinality(String), String), other Map(LowCardinality(String), Float64)
) ENGINE = MergeTree ORDER BY id`;

function createColumns() {
  return {
    id: numberColumn("id", "UInt32", 4),
    name: textColumn("name"),
    key: textColumn("key"),
    small: numberColumn("small", "UInt16", 2),
    ratio: numberColumn("ratio", "Nullable(Decimal(9, 6))", 4),
    large: numberColumn("large", "Nullable(UInt64)", 8),
    signed: numberColumn("signed", "Nullable(Decimal(18, 3))", 8),
    flag: numberColumn("flag", "Bool", 1),
    labels: mapColumn<string>("labels", "String", (out, value) => out.string(value)),
    other: mapColumn<number>("other", "Float64", (out, value) => out.float64(value)),
  };
}

describe("rows that are inserted in Native", () => {
  let store: StoreClient;
  const columns = createColumns();
  const out = createByteWriter();
  let room = 0;
  beforeAll(async () => {
    store = await createTestDatabase("native");
    await store.command(TABLE);
  });
  afterAll(async () => {
    await store.close();
  });

  /** `together` rows share a dictionary of texts. */
  async function insert(rows: readonly Row[], together = 8): Promise<readonly string[]> {
    // Columns grow while they have rows, as they do in a batch.
    for (let from = 0; from < rows.length; from += together) {
      const some = rows.slice(from, from + together);
      if (from + together > room) {
        room = 2 * (from + together);
        for (const column of Object.values(columns)) column.grow(room);
      }
      for (const name of ["name", "key"] as const) {
        const keys = textKeys(some.map((row) => row[name] ?? ""));
        if (keys !== undefined) columns[name].putKeys(from, keys);
      }
      for (const [index, row] of some.entries()) {
        for (const name of ["id", "small", "ratio", "large", "signed"] as const)
          if (row[name] !== undefined) columns[name].put(from + index, row[name]);
        if (row.flag === true) columns.flag.put(from + index, 1);
        columns.labels.put(from + index, Object.entries(row.labels ?? {}));
        columns.other.put(from + index, Object.entries(row.other ?? {}));
      }
    }
    return insertWritten(rows.length);
  }

  async function insertWritten(rows: number): Promise<readonly string[]> {
    const written = Object.values(columns).filter(({ isWritten }) => isWritten);
    const names = written.map(({ name }) => name);
    await store.insertRows("blocks", names, takeBlock(out, written, rows));
    return names;
  }

  const stored = (): Promise<readonly object[]> => store.query("SELECT * FROM blocks ORDER BY id");
  const none = { ratio: null, large: null, signed: null };
  const defaults = { name: "", key: "", small: 0, ...none, flag: false, labels: {}, other: {} };

  it("are in the table as they were written, with defaults for missing values", async () => {
    const rows: Row[] = [
      { id: 1, name: "ä", key: "x".repeat(300), small: 65_535, ratio: 1_000_000, large: Number.MAX_SAFE_INTEGER },
      { id: 2 },
      { id: 4_000_000_000, name: "b", signed: -1, flag: true, labels: { a: "1", "": "" }, other: { up: 0.1 } },
      { id: 3, name: "ä", signed: -9_007_199_254_740_991, ratio: 0, large: 0, labels: { a: "2" } },
    ];
    expect(await insert(rows, 3)).toEqual(Object.keys(columns));
    expect(await stored()).toEqual([
      { ...defaults, id: 1, name: "ä", key: "x".repeat(300), small: 65_535, ratio: "1", large: "9007199254740991" },
      { ...defaults, id: 2 },
      { ...defaults, id: 3, name: "ä", signed: "-9007199254740.991", ratio: "0", large: "0", labels: { a: "2" } },
      {
        ...defaults,
        id: 4_000_000_000,
        name: "b",
        signed: "-0.001",
        flag: true,
        labels: { a: "1", "": "" },
        other: { up: 0.1 },
      },
    ]);
  });

  it("leave out columns without a value, and keep nothing of the block before", async () => {
    await store.command("TRUNCATE TABLE blocks");
    expect(await insert([{ id: 1 }, { id: 2, flag: true }])).toEqual(["id", "flag"]);
    expect(await stored()).toEqual([
      { ...defaults, id: 1 },
      { ...defaults, id: 2, flag: true },
    ]);
  });

  it("may have more texts than two bytes can count", async () => {
    await store.command("TRUNCATE TABLE blocks");
    const rows = Array.from({ length: 70_000 }, (_, id) => ({ id, name: id % 7 === 0 ? "" : `pod-${id}` }));
    await insert(rows, 1000);
    expect(
      await store.query(
        "SELECT toString(count()) AS n FROM blocks WHERE name = if(id % 7 = 0, '', concat('pod-', toString(id)))",
      ),
    ).toEqual([{ n: "70000" }]);
  });

  it("are rounded to their scale, and null if that is out of range", async () => {
    await store.command("TRUNCATE TABLE blocks");
    columns.id.fill(0, 1, 7);
    columns.id.fill(1, 4, 8);
    const values = Float64Array.of(0.5, -1, 0.1234567, -1, Number.NaN, -1, 3_000, -1, -0.1, -1);
    const bounds = { scale: 1e6, least: 0, most: 2 ** 31 - 1 };
    columns.ratio.setScaled(0, { values, first: 0, step: 2, rows: 5, ...bounds });
    await insertWritten(5);
    expect(await store.query("SELECT id, ratio FROM blocks ORDER BY id, ratio NULLS LAST")).toEqual([
      { id: 7, ratio: "0.5" },
      { id: 8, ratio: "0.123457" },
      ...[1, 2, 3].map(() => ({ id: 8, ratio: null })),
    ]);
  });

  it("may come in several blocks, with columns without any value, and are one part", async () => {
    await store.command(`
      CREATE TABLE amounts (id UUID, name String, amount Decimal(38, 9), other Nullable(Decimal(38, 0)), labels Map(LowCardinality(String), String))
      ENGINE = MergeTree ORDER BY amount`);
    const all = {
      id: uuid.block("id"),
      name: textColumn("name"),
      amount: decimalColumn("amount", "Decimal(38, 9)"),
      other: decimalColumn("other", "Nullable(Decimal(38, 0))"),
      labels: mapColumn<string>("labels", "String", (to, value) => to.string(value)),
    };
    for (const column of Object.values(all)) column.grow(4);
    const amounts = [-1n, 0n, 12_345_678_901_234_567_890_123_456_789n, -12_345_678_901_234_567_890_123_456_789n];
    const id = "0195b7a0-0000-7000-8000-00000000002a";
    for (const row of [0, 1]) all.id.put(row, id);
    const first = takeBlock(out, Object.values(all), 2);
    for (const [row, amount] of amounts.entries()) {
      all.id.put(row, id);
      all.name.put(row, ["a", "", "a", "b"][row]!);
      all.amount.put(row, amount);
      if (row > 1) all.other.put(row, amount);
    }
    const second = takeBlock(out, Object.values(all), 4);
    const names = Object.keys(all);
    expect(await store.insertRows("amounts", names, [first, second])).toEqual({ writtenRows: 6 });
    const empty = { id, name: "", amount: "0", other: null, labels: {} };
    expect(await store.query("SELECT * FROM amounts ORDER BY amount, name")).toEqual([
      {
        ...empty,
        name: "b",
        amount: "-12345678901234567890.123456789",
        other: "-12345678901234567890123456789",
      },
      { ...empty, name: "a", amount: "-0.000000001" },
      empty,
      empty,
      empty,
      { ...empty, name: "a", amount: "12345678901234567890.123456789", other: "12345678901234567890123456789" },
    ]);
    const parts =
      "SELECT count() AS parts FROM system.parts WHERE database = currentDatabase() AND table = 'amounts' AND active";
    expect(await store.query(parts)).toEqual([{ parts: "1" }]);
  });
});
