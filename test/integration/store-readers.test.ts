import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NOT_FOR_READERS, READER_GRANTS, TABLES_OF_TEAMS, TEAM_GRANTS } from "../../reports/access/reader-grants.ts";
import { READER_SETTINGS } from "../../reports/access/reader-limits.ts";
import { readersSql, type ReaderSql } from "../../reports/access/reader-sql.ts";
import { startEmbeddedStore } from "../../runtime/store/embedded/supervisor.ts";
import { sqlString } from "../../runtime/store/sql-tokens.ts";
import { createCommandFolder } from "../support/command.ts";
import { storeProgram } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { silent } from "../support/pipeline.ts";

const DATABASE = "ledger";
const [ALL, VISION] = readersSql({ database: DATABASE, cluster: undefined }, ["vision"]) as [ReaderSql, ReaderSql];
const [RUN, CLOSE] = ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"];
/** The other team: a name that appears nowhere by chance. */
const OTHER = "nebula-secret";

/** Two teams' lines of a closed hour and of an open one, and their statements. */
const BOOKS = [
  ...["2026-02-01 00:00:00", "2026-03-01 00:00:00"].map(
    (hour) => `INSERT INTO charges (run_id, policy, team, cluster, node, from_at, until_at, pod, effective_cost)
      VALUES ('${RUN}', 'default', 'vision', 'prod', 'a', '${hour}', '${hour}', 'v-0', 3),
             ('${RUN}', 'default', '${OTHER}', 'prod', 'a', '${hour}', '${hour}', '${OTHER}-0', 50),
             ('${RUN}', 'default', 'platform', 'prod', 'a', '${hour}', '${hour}', '', 7)`,
  ),
  `INSERT INTO runs (kind, cluster, window_start, window_end, run_id, generation, hash, published_at)
   VALUES ('charge', 'prod', '2026-03-01 00:00:00', '2026-03-01 01:00:00', '${RUN}', 1, 12345, '2026-03-01 02:00:00')`,
  `INSERT INTO closings (billing_period, close_id, kind, closed_by, effective_cost, document)
   VALUES ('2026-02-01', '${CLOSE}', 'close', 'finance', 60, '{"of":"${OTHER}"}')`,
  `INSERT INTO closed_runs (close_id, billing_period, kind, cluster, window_start, run_id)
   VALUES ('${CLOSE}', '2026-02-01', 'charge', 'prod', '2026-02-01 00:00:00', '${RUN}')`,
  // The closed hour has sums.
  ...["charge_sums", "charge_workload_sums"].flatMap((table) =>
    ["vision", OTHER].map(
      (team) => `INSERT INTO ${table} (run_id, part_id, policy, team, from_at, effective_cost)
        VALUES ('${RUN}', '${CLOSE}', 'default', '${team}', '2026-02-01 00:00:00', 3)`,
    ),
  ),
  ...["vision", OTHER].map(
    (team) => `INSERT INTO statements (close_id, billing_period, team, effective_cost, document)
      VALUES ('${CLOSE}', '2026-02-01', '${team}', 3, '{"team":"${team}"}')`,
  ),
  `INSERT INTO advice_runs (run_id, until_at, made_at) VALUES ('${RUN}', '2026-03-02 00:00:00', '2026-03-02 01:00:00')`,
  ...["vision", OTHER].map(
    (team) => `INSERT INTO advice_cards (run_id, until_at, id, team, card)
      VALUES ('${RUN}', '2026-03-02 00:00:00', '${team}', '${team}', '{"team":"${team}"}')`,
  ),
  `INSERT INTO usage_hours (run_id, cluster, claims) VALUES ('${RUN}', 'prod', ['${OTHER}'])`,
  `INSERT INTO audit (who, what, subject) VALUES ('${OTHER}', 'rules', '${OTHER}')`,
  `INSERT INTO access_tokens (id, what, name, teams) VALUES ('1', 'created', '${OTHER}', ['${OTHER}'])`,
];

/** chDB's file of users with the rights of a reader, derived from the statements that a ClickHouse would run. */
function usersXmlOf({ statements }: ReaderSql): string {
  const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const grants = statements.flatMap((sql) => /^(GRANT SELECT.* ON .*) TO /.exec(sql)?.[1] ?? []);
  const filters = statements.flatMap((sql) => {
    const [, table, condition] = /^CREATE ROW POLICY .* ON \S+\.(\w+) USING (.*) AS RESTRICTIVE/.exec(sql) ?? [];
    return table === undefined ? [] : [`<${table}><filter>${escape(condition ?? "")}</filter></${table}>`];
  });
  const settings = READER_SETTINGS.map(({ name, value }) => `<${name}>${value}</${name}>`);
  const constraints = READER_SETTINGS.map(({ name, value, mayBeLowered }) =>
    mayBeLowered === true ? `<${name}><min>1</min><max>${value}</max></${name}>` : `<${name}><const/></${name}>`,
  );
  return `<clickhouse>
    <profiles><default>${settings.join("")}<constraints>${constraints.join("")}</constraints></default><free></free></profiles>
    <quotas><default></default></quotas>
    <users><default>
      <password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
      <grants>${grants.map((grant) => `<query>${escape(grant)}</query>`).join("")}</grants>
      <databases><${DATABASE}>${filters.join("")}</${DATABASE}></databases>
    </default></users>
  </clickhouse>`;
}

interface Answer {
  readonly text?: string;
  readonly error?: string;
}

describe("readers of the database", () => {
  let folder: string;
  let relations: readonly string[];
  let systemTables: readonly string[];
  let formatted: readonly string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gpu-ledger-readers-"));
    const embedded = await startEmbeddedStore({ folder, program: storeProgram, logger: silent });
    const store = await createTestDatabase(DATABASE, { ...embedded, folder });
    for (const sql of BOOKS) await store.command(sql);
    const tablesOf = async (database: string): Promise<readonly string[]> => {
      const sql = "SELECT name FROM system.tables WHERE database = {database:String} ORDER BY name";
      return (await store.query<{ name: string }>(sql, { database })).map(({ name }) => name);
    };
    [relations, systemTables] = await Promise.all([tablesOf(DATABASE), tablesOf("system")]);
    const hostile = readersSql({ database: "the `db`", cluster: "a 'b'" }, ["it's", "a`b\\", "Computer Vision"]);
    const statements = [ALL, VISION, ...hostile].flatMap((reader) => reader.statements);
    const parsed = await Promise.all(
      statements.map((sql) => store.query<{ sql: string }>(`SELECT formatQuerySingleLine(${sqlString(sql)}) AS sql`)),
    );
    formatted = parsed.flatMap((rows) => rows.map(({ sql }) => sql));
    await store.close();
    await embedded.stop();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A reader's answer for each statement. */
  function askAs(reader: ReaderSql, statements: readonly string[]): readonly Answer[] {
    const input = JSON.stringify({ data: join(folder, "data"), usersXml: usersXmlOf(reader), statements });
    const ran = spawnSync(process.execPath, ["test/support/reader-engine.mjs"], { input, maxBuffer: 1 << 28 });
    if (ran.status !== 0) throw new Error(ran.stderr.toString());
    return JSON.parse(ran.stdout.toString()) as readonly Answer[];
  }

  it("are created by SQL that ClickHouse's parser accepts, for any names of database, cluster and teams", () => {
    expect(formatted).toHaveLength(
      2 * (ALL.statements.length + VISION.statements.length) + 2 * VISION.statements.length,
    );
    expect(formatted.filter((sql) => sql.startsWith("CREATE USER"))).toHaveLength(6);
    expect(formatted).toContain(
      "CREATE ROW POLICY OR REPLACE gpu_ledger_reading_vision ON ledger.charges AS RESTRICTIVE FOR SELECT USING team = 'vision' TO gpu_ledger_reading_vision",
    );
    expect(formatted.join("\n")).toContain("ON CLUSTER `a \\'b\\'`".replaceAll("\\", ""));
  });

  it("are written for the database and the cluster of the configuration, without a secret", async () => {
    const commands = createCommandFolder();
    const clickhouse = { url: "http://127.0.0.1:1", username: "gpu_ledger", password: "the-password", cluster: "main" };
    const config = commands.write("c.json", { store: { kind: "clickhouse", database: "books", clickhouse } });
    const args = ["generate", "store-readers", "--config", config, "--out", "sql", "--team", "a/b", "--team", "a/b"];
    expect(await commands.call(args)).toEqual({
      code: 0,
      stdout: "sql/reader.sql\nsql/reader-a%2Fb.sql\n",
      stderr: "",
    });
    const text = readFileSync(join(commands.path, "sql", "reader-a%2Fb.sql"), "utf8");
    expect(text).toContain("CREATE USER IF NOT EXISTS `gpu_ledger_reader_a/b` ON CLUSTER `main` IDENTIFIED WITH");
    expect(text).toContain("ON `books`.charges USING team = 'a/b' AS RESTRICTIVE TO `gpu_ledger_reading_a/b`;");
    expect(text).toContain("sha256_hash BY 'PUT THE SHA-256 OF A PASSWORD HERE'");
    expect(text).not.toContain("the-password");
    for (const team of ["a@b", "a\nb", ""])
      expect(await commands.call([...args, "--team", team])).toMatchObject({ code: 2, stdout: "" });
    await commands.dispose();
  });

  it("have a decision for every table and every view", () => {
    const granted = READER_GRANTS.map(({ table }) => table);
    expect([...granted, ...NOT_FOR_READERS].toSorted()).toEqual(relations);
    for (const { table } of TEAM_GRANTS) expect(granted).toContain(table);
  });

  it("of all teams may query exactly the granted tables, and the grants are complete", () => {
    const granted = READER_GRANTS.map(({ table }) => table);
    const answers = askAs(
      ALL,
      [...granted, ...NOT_FOR_READERS].map((table) => `SELECT * FROM ledger.${table} LIMIT 1`),
    );
    granted.forEach((table, index) => expect({ table, error: answers[index]?.error }).toEqual({ table }));
    for (const { error } of answers.slice(granted.length)) expect(error).toContain("ACCESS_DENIED");
    const [sums] = askAs(ALL, [
      "SELECT team, sum(effective_cost) AS cost FROM ledger.charges_published GROUP BY team ORDER BY team",
    ]);
    expect(sums?.text).toContain(OTHER);
  });

  it("cannot raise the limits of a query, nor write", () => {
    const statements = [
      "SELECT 1 SETTINGS max_execution_time = 0",
      "SELECT 1 SETTINGS max_execution_time = 61",
      "SELECT 1 SETTINGS max_rows_to_read = 0",
      "SELECT 1 SETTINGS max_result_rows = 1000000000",
      "SELECT 1 SETTINGS result_overflow_mode = 'break'",
      "SELECT 1 SETTINGS readonly = 0",
      "SELECT 1 SETTINGS profile = 'free', max_execution_time = 0",
      "SET max_concurrent_queries_for_user = 0",
      "INSERT INTO ledger.audit (who) VALUES ('x')",
      "CREATE TABLE ledger.x (a UInt8) ENGINE = Memory",
      "CREATE TEMPORARY TABLE x (a UInt8)",
      "DROP TABLE ledger.charges",
      "ALTER TABLE ledger.charges DELETE WHERE 1",
      "SELECT * FROM file('/etc/passwd', 'LineAsString')",
      "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
      "SELECT * FROM remote('127.0.0.1', system.one)",
    ];
    askAs(ALL, statements).forEach(({ error }, index) => {
      expect([statements[index], error]).toEqual([
        statements[index],
        expect.stringMatching(/SETTING_CONSTRAINT_VIOLATION|READONLY|ACCESS_DENIED/) as unknown,
      ]);
    });
    const allowed = [
      "SELECT 1 SETTINGS max_execution_time = 5",
      "SELECT count() FROM numbers(10) SETTINGS max_threads = 1",
    ];
    for (const { error } of askAs(ALL, allowed)) expect(error).toBeUndefined();
    // This engine does not check a subquery's settings. The limits of the whole query stay the same.
    const tooMuch = [
      "SELECT * FROM numbers(2000001)",
      "SELECT * FROM (SELECT * FROM numbers(2000001) SETTINGS max_result_rows = 0)",
      "SELECT count() FROM numbers(6000000000) WHERE sipHash64(number) = 1",
      "SELECT count() FROM (SELECT * FROM numbers(6000000000) WHERE sipHash64(number) = 1 SETTINGS max_rows_to_read = 0)",
    ];
    for (const { error } of askAs(ALL, tooMuch)) expect(error).toMatch(/TOO_MANY_ROWS/);
  });

  /** Queries that would show another team's rows if any query could. */
  const views = ["advice_cards_published", "charges_published", "charges_summed", "workload_charges_summed"];
  const amountOf = (table: string): string => (table.startsWith("advice") ? "owner_saving" : "effective_cost");
  const questions = [...TABLES_OF_TEAMS, ...views].flatMap((table) => [
    `SELECT * FROM ledger.${table}`,
    `SELECT DISTINCT team FROM ledger.${table}`,
    `SELECT count() AS rows, uniqExact(team) AS teams, min(team), max(team), sum(${amountOf(table)}) FROM ledger.${table}`,
    `SELECT team, count() FROM ledger.${table} GROUP BY team WITH TOTALS`,
    `SELECT * FROM ledger.${table} WHERE team != 'vision'`,
    `SELECT * FROM ledger.${table} WHERE team = 'vision' OR 1`,
    `SELECT * FROM ledger.${table} WHERE throwIf(team != 'vision', 'another team')`,
    `SELECT * FROM (SELECT * FROM ledger.${table}) WHERE team != 'vision' UNION ALL SELECT * FROM ledger.${table}`,
    `WITH x AS (SELECT * FROM ledger.${table}) SELECT a.team, b.team FROM x AS a CROSS JOIN x AS b`,
    `SELECT b.* FROM (SELECT 'prod' AS k) AS a RIGHT JOIN ledger.${table} AS b ON 1 = 1`,
    `SELECT groupArray(team) OVER () FROM ledger.${table}`,
    `SELECT (SELECT groupArray(team) FROM ledger.${table})`,
    `SELECT * FROM view(SELECT * FROM ledger.${table})`,
    `SELECT * FROM merge('ledger', '^${table}$')`,
    `SELECT team FROM ledger.${table} LIMIT 1 BY team`,
    `SELECT arrayJoin(groupUniqArray(team)) FROM ledger.${table}`,
    `SELECT max(team) FROM ledger.${table} SETTINGS optimize_use_implicit_projections = 1`,
    `SELECT count() FROM ledger.${table} SETTINGS optimize_trivial_count_query = 1`,
    `SELECT * FROM ledger.${table} SETTINGS additional_table_filters = {'ledger.charges': '1'}`,
  ]);

  it("of one team get its rows and no others, by any query", () => {
    const answers = askAs(VISION, questions);
    answers.forEach(({ text, error }, index) => {
      expect([questions[index], error]).toEqual([questions[index], undefined]);
      expect(text).not.toContain(OTHER);
      expect(text).not.toContain("platform");
    });
    const [counts] = askAs(VISION, [
      `SELECT (SELECT count() FROM ledger.charges) AS lines, (SELECT count() FROM ledger.charges_published) AS published,
         (SELECT sum(effective_cost) FROM ledger.charges_published) AS cost, (SELECT count() FROM ledger.statements) AS statements`,
    ]);
    expect(JSON.parse(counts!.text!)).toMatchObject({ lines: 2, published: 2, cost: 6, statements: 1 });
  });

  it("of one team get nothing about what others do or pay", () => {
    const granted = new Set(TEAM_GRANTS.map(({ table }) => table));
    const denied = [
      ...relations.filter((table) => !granted.has(table)).map((table) => `SELECT * FROM ledger.${table}`),
      "SELECT document FROM ledger.closings",
      "SELECT * FROM ledger.closings",
      "SELECT effective_cost, unowned_cost FROM ledger.closings",
      "SELECT hash FROM ledger.runs",
      "SELECT rows FROM ledger.runs",
      "SELECT * FROM loop(ledger.charges) LIMIT 1",
    ];
    expect(denied.length).toBeGreaterThan(25);
    askAs(VISION, denied).forEach(({ error }, index) =>
      expect([denied[index], error]).toEqual([denied[index], expect.stringContaining("ACCESS_DENIED") as unknown]),
    );
  });

  it("of one team find no name of another in any system table", () => {
    // Tables that are endless, huge or computed from nothing cannot contain anything.
    const computed = /^(numbers|zeros|generate|models|primes|privileges|unicode)/;
    const asked = systemTables.filter((table) => !computed.test(table));
    expect(asked.length).toBeGreaterThan(50);
    askAs(
      VISION,
      asked.map((table) => `SELECT * FROM system.\`${table}\``),
    ).forEach(({ text = "" }, index) => expect([asked[index], text.includes(OTHER)]).toEqual([asked[index], false]));
  });

  it("of one team see the keys of others by mergeTreeIndex, until the engine has the fix (docs/access.md)", () => {
    const [keys] = askAs(VISION, ["SELECT * FROM mergeTreeIndex('ledger', 'charges')"]);
    expect(keys?.text).toContain('"team":');
    expect(keys?.text).not.toContain('"effective_cost"');
  });
});
