import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join, relative } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { ask, run, startTestStore } from "../support/embedded-store.ts";
import type { RawAnswer, TestStore } from "../support/embedded-store.ts";

const secret = "the-secret-of-this-machine";

let store: TestStore;
let outside: string;
let canary: Server;
let canaryConnections = 0;

beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), "gpu-ledger-outside-"));
  await writeFile(join(outside, "secret.txt"), secret);
  canary = createServer().on("connection", () => (canaryConnections += 1));
  await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
  store = await startTestStore();
  await run(store, "CREATE DATABASE ledger");
  await run(
    store,
    "CREATE TABLE ledger.charges (team String, cost Decimal(18, 4), day Date) ENGINE = MergeTree ORDER BY day",
  );
  await run(store, "INSERT INTO ledger.charges VALUES ('red', 1.5, '2026-03-01'), ('blue', 2.25, '2026-03-02')");
  await run(store, "CREATE VIEW ledger.by_team AS SELECT team, sum(cost) AS cost FROM ledger.charges GROUP BY team");
  await run(store, "CREATE VIEW ledger.of_team AS SELECT cost FROM ledger.charges WHERE team = {team:String}");
  await run(
    store,
    "CREATE DICTIONARY ledger.teams (team String, cost Decimal(18, 4)) PRIMARY KEY team SOURCE(CLICKHOUSE(DB 'ledger' TABLE 'charges')) LAYOUT(COMPLEX_KEY_HASHED()) LIFETIME(0)",
  );
});

afterAll(async () => {
  await store?.stop();
  canary?.close();
  await rm(outside, { recursive: true, force: true });
});

const asReader = async (body: string, path = "/?database=ledger"): Promise<RawAnswer> =>
  await ask(store, { user: store.reader, path, body: fill(body) });

/** Puts the canary's address and the secret's path where a statement names them. */
function fill(sql: string): string {
  const { port } = canary.address() as AddressInfo;
  return sql
    .replaceAll("SECRET", join(outside, "secret.txt"))
    .replaceAll("RELATIVE", relative(process.cwd(), join(outside, "secret.txt")))
    .replaceAll("OUTSIDE", outside)
    .replaceAll("CANARY", `127.0.0.1:${port}`);
}

function expectNothingGotOut(answer: RawAnswer): void {
  expect(answer.text).not.toContain(secret);
  expect(readdirSync(outside)).toEqual(["secret.txt"]);
  expect(canaryConnections).toBe(0);
}

describe("a reader may", () => {
  it.each([
    ["SELECT team, sum(cost) FROM charges GROUP BY team ORDER BY team FORMAT CSV", '"blue",2.25\n"red",1.5\n'],
    ["WITH x AS (SELECT sum(cost) AS c FROM ledger.charges) SELECT c FROM x", "3.75\n"],
    ["SELECT * FROM by_team ORDER BY team LIMIT 1", "blue\t2.25\n"],
    ["SELECT * FROM ledger.of_team(team = 'red')", "1.5\n"],
    ["SELECT dictGet('ledger.teams', 'cost', 'red')", "1.5\n"],
    [
      "SELECT arrayMap(x -> x + 1, [1, 2]), sumIf(cost, team = 'red'), quantile(0.5)(toFloat64(cost)) FROM charges",
      "[2,3]\t1.5\t1.875\n",
    ],
    [
      "SELECT toStartOfInterval(day, INTERVAL 1 WEEK) AS w, sum(cost) OVER (ORDER BY day) FROM charges ORDER BY day LIMIT 1",
      "2026-02-23\t1.5\n",
    ],
    [
      "SELECT a.team FROM charges a ASOF JOIN charges b ON a.team = b.team AND a.day >= b.day ORDER BY 1",
      "blue\nred\n",
    ],
    [
      "SELECT CASE team WHEN 'red' THEN 1 ELSE 0 END, countDistinct(day), uniqExactIf(team, 1) FROM charges GROUP BY 1 ORDER BY 1",
      "0\t1\t1\n1\t1\t1\n",
    ],
    ["SELECT number FROM numbers(2) UNION ALL SELECT 5 ORDER BY 1", "0\n1\n5\n"],
    ["SELECT * EXCEPT (cost) REPLACE (upper(team) AS team) FROM charges ORDER BY day LIMIT 1", "RED\t2026-03-01\n"],
    [
      "SELECT 'file(''x'') INTO OUTFILE url(', `team` FROM charges ORDER BY 2 LIMIT 1",
      "file(\\'x\\') INTO OUTFILE url(\tblue\n",
    ],
    ["SELECT 1 /* file('/etc/passwd') */ -- INTO OUTFILE 'x'", "1\n"],
    ["SELECT {a:UInt8} + {b:UInt8}", "3\n", "/?param_a=1&param_b=2"],
    ["SELECT count() FROM {t:Identifier}", "2\n", "/?param_t=charges&database=ledger"],
    ["SHOW TABLES FROM ledger LIKE 'char%'", "charges\n"],
    ["EXISTS TABLE ledger.charges", "1\n"],
    ["SELECT name FROM system.databases WHERE name = 'ledger'", "ledger\n"],
    ["SELECT count() FROM system.columns WHERE database = 'ledger' AND table = 'charges'", "3\n"],
    ["SELECT displayName() != '', version() != '', revision() > 0, timezone()", "1\t1\t1\tUTC\n"],
  ])("run %s", async (sql, text, path = "/?database=ledger") => {
    expect(await asReader(sql, path)).toMatchObject({ status: 200, text });
  });

  it.each(["DESCRIBE TABLE charges", "SHOW CREATE TABLE charges", "EXPLAIN SELECT * FROM charges", "SHOW DATABASES"])(
    "ask %s",
    async (sql) => {
      expect(await asReader(sql)).toMatchObject({ status: 200 });
    },
  );
});

/** Every way out that came to mind, each with the number of the error that it must get. */
const refused: readonly (readonly [number, string])[] = [
  // Files, by table functions, however they are written and wherever they stand.
  [497, "SELECT * FROM file('SECRET', 'LineAsString')"],
  [497, "SELECT * FROM `file`('SECRET', 'LineAsString')"],
  [497, "SELECT * FROM \"file\"('SECRET', 'LineAsString')"],
  [497, "SELECT * FROM/**/file/* */(\n'SECRET'--\n,'LineAsString')"],
  [497, "SELECT * FROM `\\x66ile`('SECRET', 'LineAsString')"],
  [497, "SELECT * FROM FILE('SECRET', 'LineAsString')"],
  [497, "SELECT * FROM (SELECT * FROM (SELECT * FROM file('SECRET', 'LineAsString')))"],
  [497, "WITH x AS (SELECT * FROM file('SECRET', 'LineAsString')) SELECT * FROM x"],
  [497, "SELECT (SELECT * FROM file('SECRET', 'LineAsString'))"],
  [497, "SELECT * FROM charges WHERE team IN (SELECT * FROM file('SECRET', 'LineAsString'))"],
  [497, "SELECT * FROM charges JOIN file('SECRET', 'LineAsString') AS f ON 1"],
  [497, "SELECT 1 UNION ALL SELECT * FROM file('SECRET', 'LineAsString')"],
  [497, "SELECT * FROM view(SELECT * FROM file('SECRET', 'LineAsString'))"],
  [497, "SELECT * FROM viewIfPermitted(SELECT 1 ELSE file('SECRET', 'LineAsString'))"],
  [497, "SELECT * FROM loop(file('SECRET', 'LineAsString'))"],
  [497, "SELECT * FROM fileCluster('default', 'SECRET', 'LineAsString')"],
  [497, "SELECT * FROM filesystem('OUTSIDE')"],
  [497, "SELECT * FROM eval('SELECT 1')"],
  [497, "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1))"],
  [497, "SELECT * FROM format('LineAsString', 'x')"],
  [497, "SELECT * FROM merge('system', 'processes')"],
  [497, "SELECT * FROM executable('id', 'TSV', 'a String')"],
  [497, "SELECT * FROM input('a String')"],
  [497, "SELECT * FROM generateRandom('a String')"],
  [497, "SELECT * FROM fuzzJSON('x')"],
  [497, "SELECT * FROM arrowstream('x')"],
  [497, "SELECT * FROM mergeTreeIndex('ledger', 'charges')"],
  [497, "DESCRIBE TABLE file('SECRET', 'LineAsString')"],
  [497, "EXPLAIN SELECT * FROM file('SECRET', 'LineAsString')"],
  [497, "EXPLAIN AST SELECT * FROM file('SECRET', 'LineAsString')"],
  [497, "EXPLAIN QUERY TREE SELECT file('SECRET')"],
  [497, "EXPLAIN TABLE OVERRIDE mysql('CANARY', 'a', 'b', 'c', 'd') ORDER BY x"],
  [497, "SELECT 1 AS `x\n   Function plus (children 1)`, file('SECRET')"],
  // A file by its name alone, which chDB takes for a table.
  [497, "SELECT * FROM default.`SECRET`"],
  [497, "SELECT * FROM `default`.`RELATIVE`"],
  [60, "SELECT * FROM 'SECRET'"],
  // The scalar function, called, passed by name, hidden behind an alias or an APPLY.
  [497, "SELECT file('SECRET')"],
  [497, "SELECT `file`('SECRET')"],
  [497, "SELECT arrayMap(file, ['SECRET'])"],
  [497, "SELECT arrayMap(`file`, ['SECRET'])"],
  [497, "WITH file AS f SELECT arrayMap(f, ['SECRET'])"],
  [497, "WITH x -> file(x) AS f SELECT f('SECRET')"],
  [497, "SELECT arrayMap(x -> file(x), ['SECRET'])"],
  [497, "SELECT * APPLY file FROM (SELECT 'SECRET')"],
  [497, "SELECT * APPLY(x -> file(x)) FROM (SELECT 'SECRET')"],
  [497, "SELECT COLUMNS('.*') APPLY(file) FROM (SELECT 'SECRET')"],
  [497, "SELECT * REPLACE (file('SECRET') AS team) FROM charges"],
  [497, "SELECT team FROM charges GROUP BY team, file('SECRET')"],
  [497, "SELECT team FROM charges ORDER BY file('SECRET')"],
  [497, "SELECT team FROM charges LIMIT 1 BY file('SECRET')"],
  [497, "SELECT team FROM charges PREWHERE file('SECRET') = 'x'"],
  [497, "SELECT sum(1) OVER (ORDER BY file('SECRET')) FROM charges"],
  [497, "SELECT sum(1) OVER w FROM charges WINDOW w AS (ORDER BY file('SECRET'))"],
  [497, "SELECT x FROM charges ARRAY JOIN [file('SECRET')] AS x"],
  [497, "SELECT sumIf(1, file('SECRET') = 'x') FROM charges"],
  [497, "SELECT if(1, file('SECRET'), '')"],
  [497, "SELECT sum(1) OVER (ORDER BY day ROWS BETWEEN length(file('SECRET')) PRECEDING AND CURRENT ROW) FROM charges"],
  [497, "SELECT sum(1) OVER (PARTITION BY file('SECRET')) FROM charges"],
  [497, "SELECT team FROM charges HAVING file('SECRET') = 'x'"],
  [497, "SELECT team FROM charges QUALIFY file('SECRET') = 'x'"],
  [497, "SELECT team FROM charges LIMIT 1 OFFSET length(file('SECRET'))"],
  [497, "SELECT DISTINCT ON (file('SECRET')) team FROM charges"],
  [497, "SELECT team FROM charges GROUP BY GROUPING SETS ((team, file('SECRET')))"],
  [497, "SELECT 1 AS x ORDER BY x WITH FILL FROM 0 TO length(file('SECRET'))"],
  [497, "SELECT 1 AS x, 'a' AS y ORDER BY x WITH FILL TO 9 INTERPOLATE (y AS file('SECRET'))"],
  [497, "SELECT quantile(length(file('SECRET')) / 100)(1)"],
  [497, "SELECT count() FILTER (WHERE file('SECRET') = 'x')"],
  [497, "SELECT CAST(file('SECRET') AS String), file('SECRET')::String"],
  [497, "SELECT [file('SECRET')], (file('SECRET'), 1), map('a', file('SECRET'))"],
  [497, "SELECT CASE WHEN file('SECRET') = 'x' THEN 1 ELSE 2 END"],
  [497, "WITH (SELECT file('SECRET')) AS x SELECT x"],
  [497, "SELECT count() FROM numbers(length(file('SECRET')))"],
  [497, "SELECT * FROM values('a String', file('SECRET'))"],
  [497, "SELECT * FROM of_team(team = file('SECRET'))"],
  [497, "SELECT arrayReduce(file, ['SECRET'])"],
  [497, "SELECT a.team FROM charges a JOIN charges b ON file('SECRET') = b.team"],
  // SHOW is rewritten by the engine; what stands behind its WHERE and LIMIT is in no tree.
  [497, "SHOW TABLES WHERE file('SECRET') LIKE '%secret%'"],
  [497, "SHOW TABLES FROM ledger WHERE 1 IN system.processes"],
  [497, "SHOW TABLES LIMIT length(file('SECRET'))"],
  [62, "SHOW DATABASES WHERE file('SECRET') LIKE '%secret%'"],
  [497, "SHOW COLUMNS FROM charges WHERE file('SECRET') LIKE '%secret%'"],
  [497, "SHOW INDEX FROM charges WHERE file('SECRET') LIKE '%secret%'"],
  [497, "SHOW/**/COLUMNS FROM charges/**/WHERE/**/file('SECRET') LIKE '%secret%'"],
  // The network.
  [497, "SELECT * FROM url('http://CANARY/', 'CSV', 'a String')"],
  [497, "SELECT * FROM urlCluster('default', 'http://CANARY/', 'CSV', 'a String')"],
  [497, "SELECT * FROM s3('http://CANARY/bucket/x', 'CSV', 'a String')"],
  [497, "SELECT * FROM s3Cluster('default', 'http://CANARY/bucket/x', 'CSV', 'a String')"],
  [497, "SELECT * FROM gcs('http://CANARY/bucket/x', 'CSV', 'a String')"],
  [497, "SELECT * FROM oss('http://CANARY/bucket/x', 'CSV', 'a String')"],
  [497, "SELECT * FROM cosn('http://CANARY/bucket/x', 'CSV', 'a String')"],
  [497, "SELECT * FROM hdfs('hdfs://CANARY/x', 'CSV', 'a String')"],
  [497, "SELECT * FROM azureBlobStorage('http://CANARY/', 'c', 'x', 'CSV')"],
  [497, "SELECT * FROM deltaLake('http://CANARY/bucket/x')"],
  [497, "SELECT * FROM iceberg('http://CANARY/bucket/x')"],
  [497, "SELECT * FROM icebergLocal('OUTSIDE')"],
  [497, "SELECT * FROM hudi('http://CANARY/bucket/x')"],
  [497, "SELECT * FROM paimonLocal('OUTSIDE')"],
  [497, "SELECT * FROM remote('CANARY', system.one)"],
  [497, "SELECT * FROM remoteSecure('CANARY', system.one)"],
  [497, "SELECT * FROM cluster('default', system.one)"],
  [497, "SELECT * FROM clusterAllReplicas('default', system.one)"],
  [497, "SELECT * FROM mysql('CANARY', 'a', 'b', 'c', 'd')"],
  [497, "SELECT * FROM postgresql('CANARY', 'a', 'b', 'c', 'd')"],
  [497, "SELECT * FROM mongodb('CANARY', 'a', 'b', 'c', 'd', 'x String')"],
  [497, "SELECT * FROM redis('CANARY', 'a', 'a String')"],
  [497, "SELECT * FROM sqlite('SECRET', 'a')"],
  [497, "SELECT * FROM jdbc('CANARY', 'a', 'b')"],
  [497, "SELECT * FROM odbc('CANARY', 'a', 'b')"],
  [497, "SELECT hasColumnInTable('CANARY', 'default', '', 'system', 'one', 'dummy')"],
  [497, "SELECT aiGenerate('x')"],
  // Files to write.
  [497, "SELECT 1 INTO OUTFILE 'OUTSIDE/out'"],
  [497, "SELECT 1 INTO/**/OUTFILE 'OUTSIDE/out' TRUNCATE COMPRESSION 'gzip' FORMAT CSV"],
  [497, "SELECT 1 UNION ALL SELECT 2 INTO OUTFILE 'OUTSIDE/out'"],
  [497, "SHOW TABLES INTO OUTFILE 'OUTSIDE/out'"],
  [497, "DESCRIBE TABLE charges INTO OUTFILE 'OUTSIDE/out'"],
  [497, "EXPLAIN SELECT 1 INTO OUTFILE 'OUTSIDE/out'"],
  [497, "INSERT INTO FUNCTION file('OUTSIDE/out', 'CSV') SELECT 1"],
  [497, "BACKUP DATABASE ledger TO File('OUTSIDE/out')"],
  // Changes of any kind.
  [497, "INSERT INTO charges VALUES ('x', 1, today())"],
  [497, "INSERT INTO charges SELECT 'x', 1, today()"],
  [497, "INSERT INTO charges FORMAT CSV\nx,1,2026-01-01"],
  [497, "CREATE TABLE ledger.t (a Int8) ENGINE = Memory"],
  [497, "CREATE TEMPORARY TABLE t (a Int8)"],
  [497, "CREATE VIEW ledger.v AS SELECT 1"],
  [497, "CREATE FUNCTION f AS x -> x"],
  [497, "ALTER TABLE charges DELETE WHERE 1"],
  [497, "DELETE FROM charges WHERE 1"],
  [497, "UPDATE charges SET team = 'x' WHERE 1"],
  [497, "DROP TABLE charges"],
  [497, "TRUNCATE TABLE charges"],
  [497, "OPTIMIZE TABLE charges FINAL"],
  [497, "RENAME TABLE charges TO stolen"],
  [497, "KILL QUERY WHERE 1"],
  [497, "SYSTEM SHUTDOWN"],
  [497, "SYSTEM STOP MERGES"],
  [497, "SET readonly = 0"],
  [497, "SET max_memory_usage = 0"],
  [497, "USE system"],
  [497, "EXECUTE AS default SELECT 1"],
  [497, "GRANT SELECT ON *.* TO default"],
  [497, "CHECK TABLE charges"],
  [62, "SELECT 1; DROP TABLE charges"],
  [62, "SELECT 1;\n\nSELECT file('SECRET')"],
  [62, "SELECT 1; SELECT 2 INTO OUTFILE 'OUTSIDE/out'"],
  [62, "SELECT 1; SELECT 2 INTO OUTFILE 'OUTSIDE/out'; no statement"],
  [62, "no statement; SELECT 2 INTO OUTFILE 'OUTSIDE/out'"],
  [62, "SELECT formatQuery('a\\'); SELECT 2 INTO OUTFILE \\'OUTSIDE/out\\'"],
  [62, "SELECT 1 PARALLEL WITH DROP TABLE charges"],
  [62, "f\\ile('SECRET')"],
  [62, "file('SECRET')"],
  [62, "optimize = 0 SELECT 1"],
  [164, "SELECT 1 SETTINGS readonly = 0"],
  [164, "SELECT * FROM (SELECT 1 SETTINGS max_execution_time = 0)"],
  [164, "WITH x AS (SELECT 1 SETTINGS max_memory_usage = 0) SELECT * FROM x"],
  [164, "EXPLAIN SELECT 1 SETTINGS readonly = 0"],
  [164, "EXPLAIN SELECT 1 FORMAT CSV SETTINGS max_memory_usage = 0"],
  [164, "SELECT 1 FORMAT CSV SETTINGS max_threads = 9"],
  [164, "SELECT 1 SETTINGS format_schema = 'SECRET:x' FORMAT Protobuf"],
  [164, "SELECT 1 FORMAT Template SETTINGS format_template_resultset = 'SECRET'"],
  [497, "EXPLAIN SYNTAX INSERT INTO charges SELECT 1"],
  // Other people's statements, users and the machine.
  [497, "SELECT query FROM system.processes"],
  [497, "SELECT query FROM `system`.`processes`"],
  [497, "SELECT query FROM {d:Identifier}.{t:Identifier}"],
  [497, "SELECT 'x' IN system.processes"],
  [497, "SELECT * FROM system.query_log"],
  [497, "SELECT * FROM system.users"],
  [497, "SELECT * FROM system.server_settings"],
  [497, "SELECT * FROM system.stack_trace"],
  [497, "SELECT * FROM system.named_collections"],
  [497, "SELECT * FROM system.backups"],
  [497, "SELECT * FROM system.errors"],
  [497, "SHOW PROCESSLIST"],
  [497, "SHOW GRANTS"],
  [497, "SHOW USERS"],
  [497, "SELECT getOSKernelVersion()"],
  [497, "SELECT getServerSetting('max_server_memory_usage')"],
  [497, "SELECT getMacro('x')"],
  [497, "SELECT showCertificate()"],
  [497, "SELECT filesystemAvailable()"],
  [497, "SELECT addressToLine(1)"],
  [497, "SELECT demangle('x')"],
  [497, "SELECT catboostEvaluate('SECRET', 1)"],
  [497, "SELECT evalMLMethod(1, 2)"],
  [497, "SELECT sleep(3)"],
  [497, "SELECT sleepEachRow(3) FROM numbers(100)"],
  [497, "SELECT logTrace('x')"],
  [497, "SELECT nosuchfunction(1)"],
];

describe("a reader must not", () => {
  it.each(refused)("and gets %i for %s", async (code, sql) => {
    const answer = await asReader(sql, "/?database=ledger&param_d=system&param_t=processes");
    expect({ code: Number(answer.headers["x-clickhouse-exception-code"]), ok: answer.status === 200 }).toEqual({
      code,
      ok: false,
    });
    expect(answer.text).toMatch(/^Code: \d+\. DB::Exception: .+\([A-Z_]+\) \(version/s);
    expectNothingGotOut(answer);
  });

  it("loosen its limits by settings in the URL, and is not refused for trying", async () => {
    const path =
      "/?readonly=0&max_execution_time=0&max_memory_usage=0&max_result_rows=0&allow_ddl=1&http_max_uri_size=1";
    const settings = "readonly, max_execution_time, max_memory_usage, max_result_rows".split(", ");
    const answer = await asReader(`SELECT ${settings.map((name) => `getSetting('${name}')`).join(", ")}`, path);
    const [readonly, seconds, memory, rows] = answer.text.split("\t").map(Number);
    expect(readonly).toBe(1);
    for (const limit of [seconds, memory, rows]) expect(limit).toBeGreaterThan(0);
  });

  it("take a file for a table of the database that chDB begins with", async () => {
    for (const sql of ["SELECT * FROM 'SECRET'", "SELECT * FROM `SECRET`", "DESCRIBE TABLE `SECRET`"]) {
      const answer = await asReader(sql, "/");
      expect(answer.headers["x-clickhouse-exception-code"]).toBe("497");
      expectNothingGotOut(answer);
    }
  });

  it("make the database system its own", async () => {
    expect(await asReader("SELECT query FROM processes", "/?database=system")).toMatchObject({ status: 403 });
  });

  it("smuggle statements in through a database, a parameter or a setting", async () => {
    for (const path of [
      "/?database=ledger`; DROP TABLE ledger.charges; SELECT `",
      "/?database=ledger&param_x=' ; DROP TABLE ledger.charges; SELECT '",
      "/?database=ledger&param_x;DROP=1",
      "/?database=ledger&session_timezone=UTC'; DROP TABLE ledger.charges; --",
    ]) {
      await asReader("SELECT 1", encodeURI(path));
    }
    expect(await run(store, "SELECT count() FROM ledger.charges")).toBe("2");
  });

  it("run for ever", async () => {
    const startedAt = performance.now();
    const answer = await asReader(
      "SELECT count() FROM numbers(4900000000) WHERE sipHash64(number) = 1",
      "/?max_execution_time=1",
    );
    expect(answer.headers["x-clickhouse-exception-code"]).toBe("159");
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it("have found anything else changed at the end of all this", async () => {
    expect(
      await run(
        store,
        "SELECT groupArray(name) FROM (SELECT name FROM system.tables WHERE database = 'ledger' ORDER BY name)",
      ),
    ).toBe("['by_team','charges','of_team','teams']");
    expect(await run(store, "SELECT count(), sum(cost) FROM ledger.charges")).toBe("2\t3.75");
    expect(store.restarts).toBe(0);
  });
});

describe("even the program's own user", () => {
  it.each([
    "SELECT * FROM file('SECRET', 'LineAsString')",
    "SELECT * FROM url('http://CANARY/', 'CSV', 'a String')",
    "SELECT * FROM s3('http://CANARY/bucket/x', 'CSV', 'a String')",
    "SELECT * FROM remote('CANARY', system.one)",
    "INSERT INTO FUNCTION file('OUTSIDE/out', 'CSV') SELECT 1",
    "SELECT 1 INTO OUTFILE 'OUTSIDE/out'",
    "INSERT INTO ledger.charges FROM INFILE 'SECRET' FORMAT LineAsString",
    "CREATE TABLE ledger.f (a String) ENGINE = File(CSV, 'SECRET')",
    "CREATE TABLE ledger.f (a String) ENGINE = URL('http://CANARY/', CSV)",
    "CREATE DATABASE f ENGINE = Filesystem('OUTSIDE')",
    "CREATE FUNCTION f AS x -> x",
    "BACKUP DATABASE ledger TO File('OUTSIDE/out')",
    "SYSTEM SHUTDOWN",
  ])("cannot leave the database by %s", async (sql) => {
    const answer = await ask(store, { user: store.internal, body: fill(sql) });
    expect(answer.status).not.toBe(200);
    expectNothingGotOut(answer);
  });

  it("backs up into the store's own folder", async () => {
    expect(await run(store, "BACKUP DATABASE ledger TO File('first')")).toContain("BACKUP_CREATED");
    expect(existsSync(join(store.folder, "backups", "first"))).toBe(true);
  });
});

it("The store listens on the loopback address alone.", async () => {
  const { port } = new URL(store.url);
  const others = Object.values(networkInterfaces())
    .flat()
    .filter((one) => one !== undefined && !one.internal && one.family === "IPv4")
    .map((one) => one?.address);
  for (const address of [...others, "[::1]"]) {
    await expect(ask({ url: `http://${address}:${port}` }, { method: "GET", path: "/ping" })).rejects.toThrow(
      /ECONNREFUSED|EADDRNOTAVAIL/,
    );
  }
  expect((await ask(store, { method: "GET", path: "/ping" })).status).toBe(200);
});
