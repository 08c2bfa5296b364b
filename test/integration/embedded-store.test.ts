import { gunzipSync, gzipSync } from "node:zlib";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { createStoreClient } from "../../runtime/store/client.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { StoreError } from "../../runtime/store/store-error.ts";
import { abortable } from "../../reports/server/asking.ts";
import { laneSizes } from "../../runtime/store/embedded/lane.ts";
import { columnsOf, createBlocks } from "../../runtime/store/schema/table.ts";
import { longText, uint32 } from "../../runtime/store/schema/types.ts";
import { ask, run, startTestStore } from "../support/embedded-store.ts";
import type { TestStore } from "../support/embedded-store.ts";

let store: TestStore;
let client: StoreClient;

beforeAll(async () => {
  store = await startTestStore({ maxInsertBytes: 4 * 1024 ** 2, maxMemoryBytes: 2.5 * 1024 ** 3 });
  await run(store, "CREATE DATABASE IF NOT EXISTS shop");
  client = createStoreClient({ url: store.url, ...store.user, database: "shop" });
});

afterAll(async () => {
  await client?.close();
  await store?.stop();
});

describe("the HTTP adapter", () => {
  it("answers pings without a password", async () => {
    expect(await ask(store, { method: "GET", path: "/ping" })).toMatchObject({ status: 200, text: "Ok.\n" });
    expect(await ask(store, { method: "GET", path: "/replicas_status" })).toMatchObject({ status: 200, text: "Ok.\n" });
    expect(await ask(store, { method: "GET", path: "/play" })).toMatchObject({ status: 404 });
  });

  it("takes the statement from the URL, from the body, or from both in this order", async () => {
    const user = store.user;
    expect((await ask(store, { user, method: "GET", path: "/?query=SELECT+1" })).text).toBe("1\n");
    expect((await ask(store, { user, body: "SELECT 2;" })).text).toBe("2\n");
    expect((await ask(store, { user, path: "/?query=SELECT+3", body: "+ 4 FORMAT CSV" })).text).toBe("7\n");
    expect((await ask(store, { user, body: gzipSync("SELECT 5"), headers: { "Content-Encoding": "gzip" } })).text).toBe(
      "5\n",
    );
  });

  it("takes user and password from ClickHouse's headers and from the URL too", async () => {
    const { username, password } = store.user;
    const headers = { "X-ClickHouse-User": username, "X-ClickHouse-Key": password };
    expect((await ask(store, { headers, body: "SELECT 1" })).text).toBe("1\n");
    expect((await ask(store, { path: `/?user=${username}&password=${password}`, body: "SELECT 1" })).text).toBe("1\n");
  });

  it("refuses wrong and missing passwords like a server", async () => {
    for (const user of [{ ...store.user, password: "wrong" }, { username: "default", password: "" }, undefined]) {
      const answer = await ask(store, { ...(user === undefined ? {} : { user }), body: "SELECT 1" });
      expect(answer).toMatchObject({ status: 403, headers: { "x-clickhouse-exception-code": "516" } });
      expect(answer.text).toContain("AUTHENTICATION_FAILED");
    }
  });

  it("describes the answer in headers", async () => {
    const path = "/?query_id=q-1&default_format=JSONEachRow";
    const answer = await ask(store, { user: store.user, path, body: "SELECT number FROM numbers(3)" });
    expect(answer.headers).toMatchObject({
      "x-clickhouse-query-id": "q-1",
      "x-clickhouse-format": "JSONEachRow",
      "x-clickhouse-timezone": "UTC",
    });
    expect(JSON.parse(String(answer.headers["x-clickhouse-summary"]))).toMatchObject({ result_rows: "3" });
    const csv = await ask(store, { user: store.user, path, body: "SELECT 'a', 1 FORMAT CSV" });
    expect(csv).toMatchObject({ text: '"a",1\n', headers: { "x-clickhouse-format": "CSV" } });
  });

  it("answers invalid requests, and continues", async () => {
    const user = store.user;
    for (const path of [
      "//",
      "/?query=%ff%fe",
      "/?query_id=a%0d%0ab&query=SELECT+1",
      "/?default_format=a%0d%0ab&query=SELECT+1",
    ]) {
      expect((await ask(store, { user, path, body: "" })).headers).not.toHaveProperty("b");
    }
    const broken = await ask(store, { user, body: "no gzip", headers: { "Content-Encoding": "gzip" } });
    expect(broken).toMatchObject({ status: 500, headers: { "x-clickhouse-exception-code": "1001" } });
    expect(await run(store, "SELECT 1")).toBe("1");
    expect(store.restarts).toBe(0);
  });

  it("compresses an answer on request", async () => {
    const path = "/?enable_http_compression=1";
    const body = "SELECT number FROM numbers(10000)";
    const packed = await ask(store, { user: store.user, path, body, headers: { "Accept-Encoding": "gzip" } });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    const plain = await ask(store, { user: store.user, body });
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
    expect(packed.body.length).toBeLessThan(plain.body.length);
  });

  it.each([
    ["SELEC 1", 400, "62", "SYNTAX_ERROR"],
    ["SELECT nosuch", 400, "47", "UNKNOWN_IDENTIFIER"],
    ["SELECT * FROM shop.nosuch", 404, "60", "UNKNOWN_TABLE"],
    ["SELECT 1; SELECT 2", 400, "62", "Multi-statements are not allowed"],
    ["SELECT throwIf(number = 3) FROM numbers(9)", 500, "395", "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO"],
  ])("returns the error of a server for %s", async (body, status, code, text) => {
    const answer = await ask(store, { user: store.user, body });
    expect(answer).toMatchObject({ status, headers: { "x-clickhouse-exception-code": code } });
    expect(answer.text).toMatch(/^Code: \d+\. DB::Exception: [\s\S]*\([A-Z_]+\) \(version \d/);
    expect(answer.text).toContain(text);
  });

  it("allows only reading with GET", async () => {
    const path = "/?query=CREATE+TABLE+shop.by_get+(a+Int8)+ENGINE=Memory";
    expect(await ask(store, { user: store.user, method: "GET", path })).toMatchObject({
      status: 403,
      headers: { "x-clickhouse-exception-code": "164" },
    });
  });

  it("takes parameters of every type with any content, also at the same time", async () => {
    const text = "it's\t\\ \n`\";-- {x:Int8} ü";
    const rows = await client.query<Record<string, unknown>>(
      "SELECT {s:String} AS s, {n:Nullable(Int8)} AS n, {a:Array(String)} AS a, {d:Decimal(18, 4)} AS d, {u:UInt64} AS u, {m:Map(String, Int8)} AS m",
      { s: text, n: null, a: [text, "b"], d: "1.5", u: "18446744073709551615", m: { k: 1 } },
    );
    expect(rows).toEqual([{ s: text, n: null, a: [text, "b"], d: "1.5", u: "18446744073709551615", m: { k: 1 } }]);

    const many = Array.from({ length: 60 }, async (_, index) => {
      const found = await client.query<{ n: number }>("SELECT {n:Int32} AS n", { n: index });
      return found[0]?.n;
    });
    expect(await Promise.all(many)).toEqual(Array.from({ length: 60 }, (_, index) => index));
    await expect(client.query("SELECT {n:Int32}")).rejects.toMatchObject({ code: "rejected" });
  });

  it("takes parameters that are too long for a URL as fields of a form, and no other fields", async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `O'Neill\t\\${index} – ä`);
    const [row] = await client.query<{ count: string; last: string }>(
      "SELECT length({names:Array(String)}) AS count, {names:Array(String)}[-1] AS last",
      { names },
    );
    expect(row).toEqual({ count: "20000", last: names.at(-1) });

    const long = `${names.join("\r\n")}"`;
    const parts: Uint8Array[] = [];
    for await (const part of client.bytes(
      "SELECT {long:String} AS long, {n:UInt8} AS n",
      { long, n: 7 },
      "JSONEachRow",
    ))
      parts.push(part);
    expect(JSON.parse(Buffer.concat(parts).toString())).toEqual({ long, n: 7 });

    const send = (fields: Readonly<Record<string, string | Blob>>) => formOf(fields).then((form) => ask(store, form));
    expect(await send({ query: "SELECT {n:UInt8} + 1", param_n: "4" })).toMatchObject({ status: 200, text: "5\n" });
    const code = (value: string) => ({ headers: { "x-clickhouse-exception-code": value } });
    const tooLong = { query: "SELECT length({long:String})", param_long: "a".repeat(131_073) };
    expect(await send(tooLong)).toMatchObject(code("1000"));
    expect(await send({ ...tooLong, param_long: "a".repeat(131_072) })).toMatchObject({ text: "131072\n" });
    expect(await send({ query: "SELECT 1", max_threads: "1" })).toMatchObject(code("48"));
    expect(await send({ query: "SELECT 1", param_n: new Blob(["4"]) })).toMatchObject(code("48"));
    expect(await send({ query: "INSERT INTO kinds FORMAT CSV 1" })).toMatchObject(code("48"));
    const broken = {
      user: store.user,
      body: "--x\r\nno form",
      headers: { "Content-Type": "multipart/form-data; boundary=x" },
    };
    expect(await ask(store, broken)).toMatchObject(code("36"));
  });

  it("forgets settings, database, variables and temporary tables after the request", async () => {
    const threads = "SELECT getSetting('max_threads'), currentDatabase()";
    const before = await run(store, threads);
    const user = store.user;
    expect((await ask(store, { user, path: "/?max_threads=7&database=shop", body: threads })).text).toBe("7\tshop\n");
    await run(store, "SET max_threads = 9");
    await run(store, "USE shop");
    await run(store, "CREATE TEMPORARY TABLE left_behind (a Int8)");
    await ask(store, { user, path: "/?max_result_rows=10", body: "SELECT number FROM numbers(1000000)" });
    for (let again = 0; again < 20; again += 1) {
      expect(await run(store, threads)).toBe(before);
      expect((await ask(store, { user, body: "SELECT * FROM left_behind" })).status).toBe(404);
    }
    const unknown = await ask(store, { user, path: "/?no_such_setting=1", body: "SELECT 1" });
    expect(unknown).toMatchObject({ status: 400, headers: { "x-clickhouse-exception-code": "115" } });
  });

  it("limits the size of an answer, with an error", async () => {
    const body = "SELECT randomPrintableASCII(1000) FROM numbers(600000)";
    const answer = await ask(store, { user: store.user, body });
    expect(answer).toMatchObject({ headers: { "x-clickhouse-exception-code": "396" } });
    expect(answer.text).toContain("Limit for result exceeded");
  });

  it("limits the memory of a statement, and continues", async () => {
    const sql = "SELECT length(groupArray(number)) FROM numbers(1000000000)";
    const answer = await ask(store, { user: store.user, body: sql });
    expect(answer.headers["x-clickhouse-exception-code"]).toBe("241");
    expect(await run(store, "SELECT 1")).toBe("1");
  });

  it("refuses ClickHouse's own block compression instead of answering in a form that the client cannot read", async () => {
    const answer = await ask(store, { user: store.user, path: "/?compress=1", body: "SELECT 1" });
    expect(answer).toMatchObject({ status: 501, headers: { "x-clickhouse-exception-code": "48" } });
  });
});

describe("inserts", () => {
  it("store every byte of a binary body, also empty lines and semicolons", async () => {
    await client.command("CREATE TABLE bytes (id UInt32, s String) ENGINE = MergeTree ORDER BY id");
    const rows = 20_000;
    const written = createBlocks<{ id: number; s: string }>(columnsOf({ id: uint32, s: longText }));
    for (let id = 0; id < rows; id += 1) written.write({ id, s: `\n\n;\0'${String.fromCharCode(id % 128)}` });
    expect(await client.insertRows("bytes", ["id", "s"], written.take())).toEqual({ writtenRows: rows });
    const stored = await run(
      store,
      "SELECT count(), sum(id), sum(s = unhex('0A0A3B0027') || char(id % 128)) FROM shop.bytes",
    );
    expect(stored).toBe(`${rows}\t${(rows * (rows - 1)) / 2}\t${rows}`);
  });

  it("take rows in parts, compressed, in the body after the statement, and as values", async () => {
    await client.command("CREATE TABLE ways (a UInt32) ENGINE = MergeTree ORDER BY a");
    async function* parts(): AsyncGenerator<Uint8Array> {
      for (let a = 0; a < 10; a += 1) yield* ofA(a);
    }
    await client.insertRows("ways", ["a"], parts());
    const user = store.user;
    const path = `/?query=${encodeURIComponent("INSERT INTO shop.ways FORMAT CSV")}`;
    await ask(store, { user, path, body: gzipSync("10\n11\n"), headers: { "Content-Encoding": "gzip" } });
    await run(store, 'INSERT INTO shop.ways FORMAT JSONEachRow\n{"a":12}\n\n\n{"a":13}\n');
    await run(store, "INSERT INTO shop.ways VALUES (14), (15)");
    await run(store, "INSERT INTO shop.ways (a) SELECT 16");
    await client.insertJson("ways", [{ a: 17 }]);
    expect(await run(store, "SELECT count(), min(a), max(a), uniq(a) FROM shop.ways")).toBe("18\t0\t17\t18");
  });

  it("are refused as a whole if a row is wrong or the body is too large", async () => {
    await client.command("CREATE TABLE strict (a UInt32) ENGINE = MergeTree ORDER BY a");
    const cut = ofA(1, 2)[0]!.subarray(0, -1);
    await expect(client.insertRows("strict", ["a"], cut)).rejects.toMatchObject({ code: "rejected", retriable: false });
    await expect(client.insertRows("strict", ["b"], cut)).rejects.toMatchObject({ code: "not-migrated" });
    await expect(client.insertRows("strict", ["a"], Buffer.alloc(5 * 1024 * 1024))).rejects.toThrow(
      /larger than 4194304/,
    );
    expect(await run(store, "SELECT count() FROM shop.strict")).toBe("0");
  });
});

describe("slow statements", () => {
  it("block neither pings nor inserts", async () => {
    await client.command("CREATE TABLE busy (a UInt32, s String) ENGINE = MergeTree ORDER BY a");
    const slowSql = "SELECT sleepEachRow(0.1) FROM numbers(1000) SETTINGS max_block_size = 1";
    let ended = 0;
    const slow = Array.from({ length: 6 }, async () => {
      const answer = await ask(store, { user: store.user, path: "/?max_execution_time=2", body: slowSql });
      ended += 1;
      return answer.headers["x-clickhouse-exception-code"];
    });
    const written = createBlocks<{ a: number; s: string }>(columnsOf({ a: uint32, s: longText }));
    for (let a = 0; a < 10_000; a += 1) written.write({ a, s: "0123456789" });
    const rows = written.take();
    let inserts = 0;
    // Four run for two seconds at a time, and two wait. So slow statements fill their lane until the fourth has ended.
    while (ended < 4) {
      await client.ping();
      await client.insertRows("busy", ["a", "s"], rows);
      inserts += 1;
    }
    expect(await Promise.all(slow)).toEqual(slow.map(() => "159"));
    expect(inserts).toBeGreaterThan(2);
    expect(await run(store, "SELECT count() FROM shop.busy")).toBe(String(inserts * 10_000));
  });
});

describe("bounded queries", () => {
  const HEAVY = "SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) % 7 = 3";
  const bounded = (signal: AbortSignal, settings: Readonly<Record<string, number>> = {}): StoreClient =>
    client.bounded({ caller: "Ünit/1\uD800\r\n: ", settings: { max_execution_time: 600, ...settings }, signal });
  const running = async (): Promise<string> =>
    run(store, "SELECT count() FROM system.processes WHERE query LIKE '%sipHash64%' AND query NOT LIKE '%processes%'");

  it("stop in the store when their caller has gone, also those that wait", async () => {
    const gone = abortable();
    const queries = Array.from({ length: 20 }, () =>
      bounded(gone.signal)
        .query(HEAVY)
        .catch((error: unknown) => (error as StoreError).code),
    );
    await vi.waitUntil(async () => (await running()) === String(laneSizes.questions.concurrent), {
      timeout: 90_000,
      interval: 50,
    });
    gone.abort();
    expect(new Set(await Promise.all(queries))).toEqual(new Set(["canceled"]));
    await vi.waitUntil(async () => (await running()) === "0", { timeout: 90_000, interval: 50 });
    expect(await bounded(new AbortController().signal).query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("stop in the store when the reader of their stream leaves", async () => {
    const gone = new AbortController();
    const rows = "SELECT number, sipHash64(number) FROM numbers(1000000000000)";
    const reading = (async () => {
      for await (const _ of bounded(gone.signal).bytes(rows, {}, "CSV")) void _;
    })();
    await vi.waitUntil(async () => (await running()) === "1", { timeout: 90_000, interval: 50 });
    gone.abort();
    await expect(reading).rejects.toMatchObject({ code: "canceled" });
    await vi.waitUntil(async () => (await running()) === "0", { timeout: 90_000, interval: 50 });
  });

  it.each([
    [{ max_execution_time: 1 }, HEAVY, "timeout"],
    [{ max_rows_to_read: 1_000 }, HEAVY, "over-limit"],
    [{ max_result_rows: 10 }, "SELECT number FROM numbers(100000)", "over-limit"],
    [{ max_memory_usage: 1_000_000 }, "SELECT groupArray(number) FROM numbers(10000000)", "overloaded"],
  ] as const)("end at their bound %j", async (settings, sql, code) => {
    await expect(bounded(new AbortController().signal, settings).query(sql)).rejects.toMatchObject({ code });
  });
});

/** A block with rows of one column. */
function ofA(...values: readonly number[]): readonly Uint8Array[] {
  const rows = createBlocks<{ a: number }>(columnsOf({ a: uint32 }));
  for (const a of values) rows.write({ a });
  return rows.take();
}

/** A request of the store's own user with a form as its body. */
async function formOf(fields: Readonly<Record<string, string | Blob>>): Promise<Parameters<typeof ask>[1]> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const packed = new Response(form);
  const headers = { "Content-Type": packed.headers.get("content-type")! };
  return { user: store.user, headers, body: Buffer.from(await packed.arrayBuffer()) };
}
