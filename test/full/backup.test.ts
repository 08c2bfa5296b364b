import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BackupError } from "../../processors/ledger/backup/backup-error.ts";
import { MANIFEST, readBackup, type Manifest } from "../../processors/ledger/backup/manifest.ts";
import { restoreBackup } from "../../processors/ledger/backup/restore.ts";
import { BACKED_UP } from "../../processors/ledger/backup/tables.ts";
import { writeBackup } from "../../processors/ledger/backup/write.ts";
import { readAudit } from "../../processors/ledger/closing/audit.ts";
import { verifyClosings } from "../../processors/ledger/closing/verify.ts";
import { computeWindow } from "../../processors/ledger/rollup/rollups.ts";
import { newRunId } from "../../processors/ledger/runs/runs.ts";
import { dropSuperseded } from "../../processors/ledger/term/superseded.ts";
import { explain } from "../../reports/explain/read-explanation.ts";
import { readReport } from "../../reports/report/read-report.ts";
import { readStatements } from "../../reports/read/statements.ts";
import { createAssigner } from "../../processors/ledger/invoiced/assign.ts";
import { storeExport } from "../../processors/ledger/invoiced/store-export.ts";
import { linesOf, SCENARIO_SOURCE, sourceOf } from "../../scenarios/invoices.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { MIGRATIONS_FOLDER } from "../../runtime/store/connection.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { openBooks, type Books } from "../support/books.ts";
import { temporaryFolder } from "../support/folder.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";
import { insertServing, SERVING_INTERVAL, type ServingScrape } from "../support/serving.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

/** The schema of this release: how many migrations it has. */
const SCHEMA = readdirSync(MIGRATIONS_FOLDER).length;
const APRIL_3 = Date.UTC(2026, 3, 3);
const APRIL_10 = Date.UTC(2026, 3, 10);
const MAY_3 = Date.UTC(2026, 4, 3);
const HOSTILE = "Robert'); DROP TABLE charges;--\n\n\u0000\t\\N é 漢 😀 \"`";

const POD = { name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 };
/** A pod that was unknown when March was closed. */
const LATE_POD = {
  name: "n-0",
  namespace: "nlp",
  node: "gpu-a",
  holds: { gpus: 1 },
  devices: [1],
  finished: "2026-03-31T23:00:00Z",
};

/** Pages of vision's pod in the first hour, with a hostile name of a model. */
function pages(): readonly ServingScrape[] {
  return Array.from({ length: HOUR_MILLIS / SERVING_INTERVAL + 1 }, (_, index) => ({
    at: Date.UTC(2026, 2, 31, 22) + index * SERVING_INTERVAL,
    target: "http://10.0.0.1:8000/metrics",
    namespace: POD.namespace,
    pod: POD.name,
    series: [{ model: HOSTILE, values: { prompt_tokens: index * 30, generation_tokens: index * 3, running: 1 } }],
  }));
}

/** Two GPUs for the last two hours of March and the first of April, at a price; vision holds one of them all the time. */
function fleet(effective = "3.00", pods: readonly object[] = [POD]): Scenario {
  return scenarioWith({
    period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T01:00:00Z" },
    nodes: [
      { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 2, instanceType: "p4d", until: "2026-04-01T01:00:00Z" },
    ],
    namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
    pods,
    prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective }],
  });
}

describe("a backup", () => {
  let count = 0;
  /** Closed books, and the backup of them. */
  let closed: StoreClient;
  let backup: string;
  let manifest: Manifest;
  beforeAll(async () => {
    closed = await createTestDatabase("closed");
    await fillClosedBooks(closed);
    backup = join(mkdtempSync(join(tmpdir(), "gpu-ledger-backup-")), "new", "one");
    manifest = await write(closed, backup);
  });
  afterAll(async () => {
    await closed.close();
    rmSync(join(backup, "..", ".."), { recursive: true, force: true });
  });

  async function database(): Promise<StoreClient> {
    const store = await createTestDatabase(`backup_${(count += 1)}`);
    onTestFinished(() => store.close());
    return store;
  }

  /** Books with March charged and April begun. The pages of an engine are metered. */
  async function chargedBooks(store: StoreClient): Promise<Books> {
    const books = openBooks(store, fleet());
    await books.arrive(fleet());
    await insertServing(store, "default", pages());
    await books.settle(APRIL_3);
    return books;
  }

  /** Books with March closed after a dry run, and corrected in April, which is open; with a token and a delivery. */
  async function fillClosedBooks(store: StoreClient): Promise<void> {
    const books = await chargedBooks(store);
    await books.close("2026-03", APRIL_3, { isDryRun: true });
    await books.close("2026-03", APRIL_3, { why: HOSTILE });
    const late = fleet("3.00", [POD, LATE_POD]);
    await books.arrive(late);
    books.use(late);
    await books.settle(APRIL_10);
    const hour = { cluster: "default", windowStart: Date.UTC(2026, 2, 31, 22), generation: 1, watermark: new Map() };
    await computeWindow(store, { ...hour, runId: newRunId(), publishedAt: APRIL_3 }, new AbortController().signal);
    await storeBill(store);
    const at = "2026-04-02T10:00:00.123Z";
    await store.insertJson("label_proofs", [{ cluster: "default", node: "gpu-a", pod: HOSTILE, slot: 1, seen_at: at }]);
    await store.insertJson("access_tokens", [
      { id: "a1", what: "created", at, who: HOSTILE, why: "a dashboard", name: HOSTILE, role: "viewer", hash: "00" },
    ]);
    await store.insertJson("deliveries", [
      { delivery: HOSTILE, recipient: "finance", what: "retried", attempt: 2, at, who: "finance", why: HOSTILE },
    ]);
    const run = newRunId();
    await store.insertJson("advice_cards", [
      { run_id: run, until_at: at, id: "c1", team: HOSTILE, owner_saving: "1.000000001", card: HOSTILE },
    ]);
    await store.insertJson("advice_runs", [{ run_id: run, from_at: at, until_at: at, made_at: at, basis: HOSTILE }]);
    await store.insertJson("advice_marks", [
      { id: "c1", what: "dismissed", at, until_at: null, who: HOSTILE, why: HOSTILE },
    ]);
    await store.insertJson("audit", [
      { at, who: HOSTILE, what: "rules", why: HOSTILE, subject: HOSTILE, details: JSON.stringify({ HOSTILE }) },
    ]);
  }

  /** Stores an export with a machine that joined no cluster, and divides its cost over hours. */
  async function storeBill(store: StoreClient): Promise<void> {
    const invoices = { lines: [{ machine: HOSTILE, effective: "7.000000001" }] };
    const scenario = scenarioWith({ period: { start: "2026-03-31T22:00:00Z", end: "2026-03-31T23:00:00Z" }, invoices });
    const version = { source: SCENARIO_SOURCE, name: HOSTILE, content: "a", readBy: HOSTILE, isWhole: true };
    const lines = linesOf(scenario.invoices!.lines, scenario);
    await storeExport(store, { ...version, readAt: APRIL_3 }, [lines], () => ({ rows: 1, dropped: {} }));
    await createAssigner(store, [sourceOf(scenario.invoices!)]).assign({ generation: 1, now: APRIL_3 });
  }

  const write = (store: StoreClient, folder: string, now = (): number => MAY_3): Promise<Manifest> =>
    writeBackup(store, { folder, version: "0.2.0", now });

  const restore = async (store: StoreClient, folder: string): Promise<void> =>
    restoreBackup(store, { folder, manifest: await readBackup(folder, SCHEMA), by: "finance", now: () => MAY_3 });

  async function refused(doing: Promise<unknown>): Promise<BackupError> {
    const error: unknown = await doing.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(BackupError);
    return error as BackupError;
  }

  /** Everything of the books that people see, and the ledger's data for them. */
  async function seen(store: StoreClient): Promise<object> {
    const month = (from: number, until: number, name: string) => ({ from, until, name });
    const [march, april] = [
      month(Date.UTC(2026, 2, 1), Date.UTC(2026, 3, 1), "2026-03"),
      month(Date.UTC(2026, 3, 1), Date.UTC(2026, 4, 1), "2026-04"),
    ];
    const asked = { policy: "default", where: [] };
    const report = (kind: "showback" | "chargeback", span: typeof march) =>
      readReport(
        store,
        { ...asked, kind, span, by: ["team", "workload", "state", "billingPeriod"] },
        { currency: "USD" },
      );
    const digests = await Promise.all(
      [
        "charges_published",
        "invoiced_hours_published",
        "export_lines_valid",
        "usage_hours_published",
        "gpu_hours_published",
        "serving_hours_published",
        "serving_charges_published",
        "workloads",
        "machines",
        "label_proofs",
      ].map((view) =>
        store.query(`SELECT '${view}' AS view, count() AS rows, sum(cityHash64(tuple(*))) AS digest FROM ${view}`),
      ),
    );
    return {
      verified: await verifyClosings(store, undefined),
      statements: [
        await readStatements(store, { ...asked, period: march }, "USD"),
        await readStatements(store, { ...asked, period: april }, "USD"),
      ],
      reports: [await report("showback", march), await report("chargeback", march), await report("chargeback", april)],
      explained: await explain(store, { ...asked, kind: "chargeback", span: march }),
      audit: (await readAudit(store)).filter(({ what }) => !what.startsWith("restore")),
      tokens: await store.query("SELECT * FROM access_tokens"),
      deliveries: await store.query("SELECT * FROM deliveries"),
      advice: await store.query("SELECT * FROM advice_cards_published"),
      marks: await store.query("SELECT * FROM advice_marks"),
      slots: await store.query("SELECT * FROM gpu_slots ORDER BY ALL"),
      digests,
    };
  }

  it("of closed and corrected books, with hostile names, is restored to the last digit and verifies", async () => {
    expect(manifest.tables.filter(({ files }) => files.length > 0).map(({ name }) => name)).toEqual(
      BACKED_UP.map(({ name }) => name),
    );
    expect(statSync(backup).mode & 0o777).toBe(0o700);
    expect(statSync(join(backup, MANIFEST)).mode & 0o777).toBe(0o600);
    const other = await database();
    await restore(other, backup);
    const before = await seen(closed);
    expect(await seen(other)).toEqual(before);
    expect(before).toMatchObject({
      verified: [{ period: "2026-03", posted: "12", deviations: [] }],
      audit: expect.arrayContaining([
        expect.objectContaining({ who: HOSTILE, what: "rules" }),
        expect.objectContaining({ what: "close", why: HOSTILE }),
        expect.objectContaining({ what: "dry-run" }),
        expect.objectContaining({ what: "delivery retried", why: HOSTILE }),
      ]) as unknown,
    });
    const [begun, ended] = (await readAudit(other)).filter(({ what }) => what.startsWith("restore"));
    expect(begun).toMatchObject({
      who: "finance",
      what: "restore begun",
      subject: "backup of 2026-05-03T00:00:00.000Z",
    });
    expect(ended).toMatchObject({ who: "finance", what: "restored" });
  });

  it("has the state of its beginning, with any charges and closes meanwhile", async () => {
    const books = await chargedBooks(await database());
    const before = await seen(books.store);
    let isFirst = true;
    const busy: StoreClient = {
      ...books.store,
      async *bytes(...asked) {
        if (isFirst) {
          isFirst = false;
          await books.close("2026-03", APRIL_3);
          books.use(fleet("5.00", [POD, LATE_POD]));
          await books.arrive(fleet("5.00", [POD, LATE_POD]));
          await books.settle(APRIL_10);
        }
        yield* books.store.bytes(...asked);
      },
    };
    const folder = temporaryFolder("backup");
    await write(busy, folder);
    const other = await database();
    await restore(other, folder);
    const after = await seen(other);
    // Facts that arrived meanwhile may be included; money is unchanged.
    expect({ ...after, digests: [], slots: [] }).toEqual({ ...before, digests: [], slots: [] });
    expect(await other.query("SELECT count() AS rows FROM charges")).toEqual(
      await other.query("SELECT count() AS rows FROM charges_published"),
    );
    expect(await books.store.query("SELECT count() > 6 AS more FROM charges")).toEqual([{ more: 1 }]);
    // The books continue as before.
    await openBooks(other, fleet()).close("2026-03", APRIL_3);
    expect(await verifyClosings(other, undefined)).toMatchObject([{ posted: "12", deviations: [] }]);
  });

  it("has a complete closing that was made between its two queries for the current state", async () => {
    const books = await chargedBooks(await database());
    let isFirst = true;
    const busy: StoreClient = {
      ...books.store,
      async query<Row>(...asked: Parameters<StoreClient["query"]>) {
        if (isFirst && asked[0].includes("FROM closings")) {
          isFirst = false;
          books.use(fleet("5.00"));
          await books.settle(APRIL_10);
          await books.close("2026-03", APRIL_10);
        }
        return books.store.query<Row>(...asked);
      },
    };
    const folder = temporaryFolder("backup");
    await write(busy, folder);
    const other = await database();
    await restore(other, folder);
    const verified = await verifyClosings(other, undefined);
    expect(verified).toMatchObject([{ period: "2026-03", posted: "20", deviations: [] }]);
    expect(verified).toEqual(await verifyClosings(books.store, undefined));
  });

  it("is given up if current runs were dropped before it read them", async () => {
    const books = await chargedBooks(await database());
    let now = APRIL_3;
    let dropped = 0;
    const slow: StoreClient = {
      ...books.store,
      async *bytes(...asked) {
        if (now === APRIL_3) {
          books.use(fleet("5.00"));
          await books.settle(APRIL_3 + 1000);
          now += 2 * HOUR_MILLIS;
          dropped = await dropSuperseded(books.store, now);
        }
        yield* books.store.bytes(...asked);
      },
    };
    const folder = temporaryFolder("backup");
    expect(await refused(write(slow, folder, () => now))).toMatchObject({ code: "superseded" });
    expect(dropped).toBeGreaterThan(0);
    expect(await refused(readBackup(folder, SCHEMA))).toMatchObject({ code: "no-backup" });
  });

  it("needs an empty folder, is read only unchanged, and not by an older release", async () => {
    expect(await refused(write(closed, backup))).toMatchObject({
      code: "not-empty",
      message: `${backup} already has files: give a backup an empty folder of its own`,
    });
    const copy = (): string => {
      const to = join(temporaryFolder("copy"), "c");
      cpSync(backup, to, { recursive: true });
      return to;
    };
    const [charges] = manifest.tables.find(({ name }) => name === "charges")!.files;
    const cutOff = copy();
    rmSync(join(cutOff, MANIFEST));
    expect(await refused(readBackup(cutOff, SCHEMA))).toMatchObject({
      code: "no-backup",
      message: `${cutOff} has no manifest.json: the folder is not a backup, or the backup is not complete`,
    });
    const changed = copy();
    appendFileSync(join(changed, charges!.name), "\0");
    expect(await refused(readBackup(changed, SCHEMA))).toMatchObject({
      code: "damaged",
      message: `${join(changed, "charges-1.native.gz")} is not the file that the backup wrote: the hash differs`,
    });
    const lacking = copy();
    rmSync(join(lacking, charges!.name));
    expect(await refused(readBackup(lacking, SCHEMA))).toMatchObject({ code: "damaged" });
    expect(await refused(readBackup(backup, SCHEMA - 1))).toMatchObject({
      code: "newer",
      message: `${backup} was written by release 0.2.0, with ${SCHEMA} migrations; this release has ${SCHEMA - 1}: restore it with that release or a later one`,
    });
    const outside = copy();
    const text = readFileSync(join(outside, MANIFEST), "utf8").replace("charges-1.native.gz", "../charges-1.native.gz");
    writeFileSync(join(outside, MANIFEST), text);
    expect(await refused(readBackup(outside, SCHEMA))).toMatchObject({ code: "damaged" });
  });

  it("of an older schema is restored into its columns, and the others have their defaults", async () => {
    // The state of a release whose charges and runs had no billing_period yet.
    const older: StoreClient = {
      ...closed,
      async query<Row>(sql: string, parameters: Readonly<Record<string, unknown>> = {}) {
        const rows = await closed.query<Row & { readonly name?: string }>(sql, parameters);
        const isOlder = sql.includes("system.columns") && ["charges", "runs"].includes(String(parameters["table"]));
        return isOlder ? rows.filter(({ name }) => name !== "billing_period") : rows;
      },
    };
    const folder = temporaryFolder("backup");
    await write(older, folder);
    const other = await database();
    await restore(other, folder);
    expect(
      await other.query("SELECT DISTINCT toString(billing_period) AS period FROM charges ORDER BY period"),
    ).toEqual([{ period: "2026-03-01" }, { period: "2026-04-01" }]);
  });

  it("is restored into an empty store alone", async () => {
    expect(await refused(restore(closed, backup))).toMatchObject({
      code: "not-empty",
      message: `the store already has rows in ${BACKED_UP.map(({ name }) => name).join(", ")}: restore a backup into an empty store`,
    });
    const used = await database();
    await used.insertJson("runs", [{ kind: "election", generation: 1 }]);
    expect((await refused(restore(used, backup))).message).toBe(
      "the store already has rows in runs: restore a backup into an empty store",
    );
  });

  it("that was half restored can be restored again, and its first half was never visible", async () => {
    const files = manifest.tables.flatMap((table) => table.files.map(() => table.name));
    const other = await database();
    for (const [index, table] of files.entries()) {
      let inserts = 0;
      const dying: StoreClient = {
        ...other,
        insertRows: (...asked) =>
          (inserts += 1) > index ? Promise.reject(new Error("killed")) : other.insertRows(...asked),
      };
      await expect(restore(dying, backup)).rejects.toThrow("killed");
      const verified = await verifyClosings(other, undefined);
      expect(verified).toHaveLength(table === "runs" ? 1 : 0);
      expect(verified.flatMap(({ deviations }) => deviations)).toEqual([]);
    }
    await restore(other, backup);
    expect(await seen(other)).toEqual(await seen(closed));
  });
});
