import { createHash, createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import { listDeliveries } from "../../reports/delivery/list.ts";
import type { DeliveryManifest } from "../../reports/delivery/manifest.ts";
import { deliveredVersion } from "../../reports/delivery/focus-version.ts";
import { claimAttempt, readSchedules, writeRecord } from "../../reports/delivery/records.ts";
import { readReport } from "../../reports/report/read-report.ts";
import { readSpan, type Span } from "../../reports/question/span.ts";
import { createStoreClient, type StoreClient } from "../../runtime/store/client.ts";
import {
  bookMarch,
  createDeliveryWorld,
  DUE,
  monthly,
  SINCE,
  toWebhook,
  withDeliveries,
  type DeliveryWorld,
} from "../support/delivery-world.ts";
import { HOSTILE } from "../support/pages-fleet.ts";
import { keepSampleAdvice } from "../support/sample-advice.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { DAY_MILLIS as DAY, MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";

const SECRETS = { bearerToken: "token-7f3a", signingSecret: "sign-91bc" };

const spanOf = (text: string): Span => (readSpan(text, 0) as { span: Span }).span;

describe("deliveries", () => {
  const embedded = sharedStore();
  let store: StoreClient;
  let world: DeliveryWorld;

  beforeAll(async () => {
    store = await createTestDatabase("deliveries");
    world = createDeliveryWorld(store, SINCE);
    await bookMarch(store);
  });
  afterAll(async () => {
    await world.dispose();
    await store.close();
  });

  it("are made by a started worker when they become due, without a call, and not by a stopped worker", async () => {
    world.now = SINCE;
    const configs = [monthly("by-itself", world.archive), monthly("after-the-stop", world.archive)];
    const [worker, stopped] = configs.map((config) => world.worker(config));
    worker!.start();
    stopped!.start();
    const known = async (): Promise<readonly string[]> => [...(await readSchedules(store)).keys()];
    await expect.poll(known).toHaveLength(2);
    await stopped!.stop();
    world.now = DUE;
    // The schedules' own moments are months away, so this checks the poll of every 15 s.
    await expect.poll(() => world.eventsOf("by-itself")).toContain("1 delivered");
    await worker!.stop();
    expect(await world.eventsOf("after-the-stop")).toEqual([]);
  });

  it("put a file into a folder, with sums equal to the report's to the last digit, and a manifest beside it", async () => {
    const config = monthly("to-folder", world.archive);
    const worker = await world.dueWorker(config);
    await worker.turn();
    const csv = readFileSync(join(world.folder, "to-folder-2026-03.csv"));
    const manifest = JSON.parse(
      readFileSync(join(world.folder, "to-folder-2026-03.csv.manifest.json"), "utf8"),
    ) as DeliveryManifest;
    const question = { policy: "default", kind: "chargeback", span: spanOf("2026-03"), where: [] } as const;
    const { total } = await readReport(store, { ...question, by: [] }, { currency: "USD" });
    const rows = parse<Record<string, string>>(csv, { columns: true, record_delimiter: "\r\n" });
    expect(formatAmount(sum(rows.map(({ cost }) => amountOf(cost!))))).toBe(total.cost);
    expect(total.cost).toBe("7.407407346");
    expect(manifest).toMatchObject({
      delivery: "to-folder",
      recipient: "archive",
      period: "2026-03",
      from: "2026-03-01T00:00:00.000Z",
      until: "2026-04-01T00:00:00.000Z",
      file: "to-folder-2026-03.csv",
      format: "csv",
      kind: "chargeback",
      by: ["team", "costCenter"],
      bytes: csv.length,
      sha256: createHash("sha256").update(csv).digest("hex"),
      cost: total.cost,
      gpuHours: "6",
      unpriced: [],
      currency: "USD",
      madeAt: "2026-04-03T06:00:00.000Z",
    });
    await worker.turn();
    expect(await world.eventsOf("to-folder")).toEqual(["1 delivered", "1 started", "1 started"]);
    expect(readdirSync(world.folder).filter((name) => name.includes("unfinished") || name.startsWith("gpu-"))).toEqual(
      [],
    );
    expect(await world.statusOf(config)).toMatchObject({
      state: "delivered",
      at: "2026-04-03T06:00:00.000Z",
      due: "2026-04-03T06:00:00.000Z",
      file: manifest.file,
      sha256: manifest.sha256,
      cost: total.cost,
      tries: 1,
    });
  });

  it.each([
    "json",
    "ndjson",
    "parquet",
    "html",
    "focus",
    "focus-parquet",
    "lines-csv",
    "lines-ndjson",
    "lines-parquet",
  ])("make %s, and describe the content", async (format) => {
    const name = `as-${format}`;
    const config = monthly(name, world.archive, { report: { format } });
    await (await world.dueWorker(config)).turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "delivered", cost: "7.407407346", gpuHours: "6" });
    const [file, manifest] = readdirSync(world.folder).filter((entry) => entry.startsWith(`${name}-2026`));
    expect(readFileSync(join(world.folder, file!)).length).toBeGreaterThan(100);
    const { focus } = JSON.parse(readFileSync(join(world.folder, manifest!), "utf8")) as DeliveryManifest;
    expect(focus?.check?.isPassed).toBe(format.startsWith("focus") ? true : undefined);
  });

  it("have the version of FOCUS of the delivery, and else of the ledger", async () => {
    const versionOf = async (name: string, report: object, focus: object = {}): Promise<string | undefined> => {
      const config = monthly(name, world.archive, { report: { format: "focus", ...report } });
      await (await world.dueWorker({ ...config, focus: { ...config.focus, ...focus } })).turn();
      const text = readFileSync(join(world.folder, `${name}-2026-03.csv.manifest.json`), "utf8");
      return (JSON.parse(text) as DeliveryManifest).focus?.focusVersion;
    };
    expect(await versionOf("focus-older", {}, { version: "1.3" })).toBe("1.3");
    expect(await versionOf("focus-newer", {}, { version: "1.4" })).toBe("1.4");
    expect(await versionOf("focus-asked", { focusVersion: "1.4" }, { version: "1.3" })).toBe("1.4");
  });

  it("keep the version of FOCUS in which a period was delivered to any recipient, also by an older release", async () => {
    const receiver = await world.receive((response) => response.writeHead(500).end());
    const configOf = (name: string, focusVersion: string) => {
      const to = [world.archive, toWebhook("finance", receiver)];
      return withDeliveries({ name, schedule: "0 6 3 * *", to, report: { format: "focus", focusVersion } });
    };
    const heads = (): string => receiver.posted.at(-1)!.body.toString().split("\r\n")[0]!;
    // The archive gets the file, and the webhook fails. Then the configuration has another version.
    await (await world.dueWorker(configOf("focus-kept", "1.3"))).turn();
    expect(await world.eventsOf("focus-kept")).toContain("1 delivered");
    world.now = DUE + 2 * MINUTE;
    await world.worker(configOf("focus-kept", "1.4")).turn();
    expect(receiver.posted).toHaveLength(2);
    expect(heads()).toContain("PublisherName");
    // Without a delivered file, the version of the configuration counts. An older release recorded no version.
    const { from, until } = spanOf("2026-03");
    const occasion = { delivery: "focus-before", recipient: "other", from, until };
    expect(await deliveredVersion(store, occasion)).toBeUndefined();
    const delivered = { what: "delivered", attempt: 1, at: DUE, who: "before", details: { file: "a.csv" } } as const;
    await writeRecord(store, { ...occasion, due: DUE }, delivered);
    expect(await deliveredVersion(store, occasion)).toBe("1.3");
    expect(await deliveredVersion(store, { ...occasion, delivery: "as-csv" })).toBeUndefined();
    expect(await deliveredVersion(store, { ...occasion, delivery: "focus-asked" })).toBe("1.4");
  });

  it("add the largest savings of the teams of the report to a document, if they are asked for", async () => {
    await keepSampleAdvice(store);
    const advised = async (name: string, where: object, advice: boolean): Promise<string> => {
      const config = monthly(name, world.archive, { report: { format: "html", where, advice } });
      await (await world.dueWorker(config)).turn();
      return readFileSync(join(world.folder, `${name}-2026-03.html`), "utf8");
    };
    const all = await advised("advice-of-all", {}, true);
    expect(all).toContain("What would save most");
    expect(all).toContain("4 cards from the usage");
    expect(all).toContain("Stop the job train of nlp.");
    // The name of a team is text, not markup.
    expect(all).not.toContain(HOSTILE);
    const own = await advised("advice-of-vision", { team: ["vision"] }, true);
    expect(own).toContain("1 card from the usage");
    expect(own).toContain("Stop the job train of vision.");
    expect(own).not.toContain("of nlp");
    // 168 USD in 7 days are 168 / 168 h × 730 h a month.
    expect(own).toContain("730");
    expect(await advised("without-advice", {}, false)).not.toContain("What would save most");
  });

  it("post to a webhook with the delivery, the period, the content's type and a signature in the headers", async () => {
    const receiver = await world.receive();
    await (await world.dueWorker(monthly("to-webhook", toWebhook("finance", receiver, SECRETS)))).turn();
    const [{ path, headers, body }] = receiver.posted as [Receiver["posted"][number]];
    expect(path).toBe("/hook");
    expect(body.toString()).toContain("vision");
    expect(headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-length": String(body.length),
      "content-disposition": 'attachment; filename="to-webhook-2026-03.csv"',
      "content-digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
      "idempotency-key": "to-webhook/finance/2026-03",
      authorization: "Bearer token-7f3a",
      "x-gpu-ledger-signature": `sha256=${createHmac("sha256", "sign-91bc").update(body).digest("hex")}`,
      "x-gpu-ledger-delivery": "to-webhook",
      "x-gpu-ledger-period": "2026-03",
      "x-gpu-ledger-attempt": "1",
    });
    expect(receiver.posted).toHaveLength(1);
  });

  it("are tried again after growing pauses while a webhook hangs or answers 500, with the same key, until it accepts", async () => {
    const receiver = await world.receive("hangs", (response) => response.writeHead(500).end("try\nlater"), 200);
    const config = monthly("stubborn", toWebhook("finance", receiver));
    const worker = await world.dueWorker(config);
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({
      state: "failed",
      reason: "no answer within 1 s",
      nextTry: "2026-04-03T06:01:00.000Z",
    });
    world.now = DUE + MINUTE - 1;
    await worker.turn();
    expect(receiver.posted).toHaveLength(1);
    world.now = DUE + MINUTE;
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({
      state: "failed",
      reason: "the webhook answered 500: try later",
      nextTry: "2026-04-03T06:03:00.000Z",
    });
    world.now = DUE + 3 * MINUTE;
    await worker.turn();
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "delivered", tries: 3 });
    const keys = receiver.posted.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual(Array.from({ length: 3 }, () => "stubborn/finance/2026-03"));
    expect(receiver.posted.map(({ headers }) => headers["x-gpu-ledger-attempt"])).toEqual(["1", "2", "3"]);
  });

  it("follow no redirect, and send nothing to its target", async () => {
    const other = await world.receive();
    const receiver = await world.receive((response) => response.writeHead(307, { location: other.url }).end());
    const config = monthly("redirected", toWebhook("finance", receiver, SECRETS));
    await (await world.dueWorker(config)).turn();
    expect(await world.statusOf(config)).toMatchObject({
      state: "failed",
      reason: "the webhook answered 307: redirects are not followed",
    });
    expect(other.posted).toEqual([]);
  });

  it("go to each recipient once for each period, with two servers at once", async () => {
    const receiver = await world.receive();
    const config = withDeliveries({
      name: "daily",
      schedule: "0 6 * * *",
      period: "day",
      waitFor: "nothing",
      to: [world.archive, toWebhook("finance", receiver)],
    });
    const otherStore = createStoreClient({ url: embedded.url, ...embedded.user, database: store.database });
    const workers = ["server-a", "server-b"].map((who, index) =>
      world.worker(config, { who, store: index === 0 ? store : otherStore }),
    );
    const turns = () => Promise.all(workers.map((worker) => worker.turn()));
    world.now = SINCE;
    await turns();
    // A week in which no server ran.
    world.now = SINCE + 7 * DAY;
    await turns();
    await turns();
    await otherStore.close();
    const days = ["01", "02", "03", "04", "05", "06", "07"].map((day) => `2026-04-${day}`);
    const delivered = (await world.recordsOf("daily")).filter(({ what }) => what === "delivered");
    const of = (name: string) =>
      new Set(delivered.filter(({ recipient }) => recipient === name).map(({ from }) => from));
    expect(delivered).toHaveLength(14);
    expect(of("archive")).toEqual(new Set(days.map((day) => Date.parse(day))));
    expect(of("finance")).toEqual(new Set(days.map((day) => Date.parse(day))));
    expect(receiver.posted).toHaveLength(7);
    expect(new Set(receiver.posted.map(({ headers }) => headers["x-gpu-ledger-period"]))).toEqual(new Set(days));
    expect(readdirSync(world.folder).filter((name) => /^daily-.*\.csv$/.test(name))).toHaveLength(7);
  });

  it("claim an attempt for only one of many servers at once", async () => {
    for (let round = 0; round < 4; round++) {
      const occasion = { delivery: "claimed", recipient: "finance", from: round, until: round + 1, due: DUE };
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, server) =>
          claimAttempt(store, occasion, { attempt: 1, at: DUE, who: `server-${server}`, leaseMillis: MINUTE }),
        ),
      );
      expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    }
  });

  it("are taken over by another server when the lease of an ended one has expired", async () => {
    const receiver = await world.receive();
    const config = monthly("orphaned", toWebhook("finance", receiver));
    const worker = await world.dueWorker(config);
    const { from, until } = spanOf("2026-03");
    const occasion = { delivery: "orphaned", recipient: "finance", from, until, due: DUE };
    const lost = { attempt: 1, at: DUE, who: "server-b", leaseMillis: 2 * MINUTE };
    expect(await claimAttempt(store, occasion, lost)).toMatchObject({ attempt: 1 });
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "under way", tries: 1 });
    world.now = DUE + 3 * MINUTE;
    await worker.turn();
    expect(receiver.posted).toEqual([]);
    expect(await world.statusOf(config)).toMatchObject({
      state: "failed",
      reason: "server-b ended before it recorded the result",
    });
    world.now = DUE + 4 * MINUTE;
    await worker.turn();
    expect(receiver.posted).toHaveLength(1);
    expect(await world.statusOf(config)).toMatchObject({ state: "delivered", tries: 2 });
  });

  it("are not sent by a server whose lease expired while it made the file", async () => {
    const receiver = await world.receive();
    const config = monthly("stalled", toWebhook("finance", receiver));
    let isClaimed = false;
    const stalling: StoreClient = {
      ...store,
      async insertJson(table, rows, options) {
        isClaimed ||= options?.onceFor !== undefined;
        return await store.insertJson(table, rows, options);
      },
      async query(sql, parameters) {
        // The machine stalls for a while when it reads the content of the file.
        if (isClaimed && sql.includes("charges_published")) world.now = DUE + 10 * MINUTE;
        return await store.query(sql, parameters);
      },
    };
    const worker = await world.dueWorker(config, { store: stalling });
    await worker.turn();
    expect(receiver.posted).toEqual([]);
    expect(await world.eventsOf("stalled")).toEqual(["1 started"]);
    isClaimed = false;
    await world.worker(config).turn();
    expect(receiver.posted).toHaveLength(1);
    expect(await world.statusOf(config)).toMatchObject({ state: "delivered", tries: 2 });
  });

  it("keep their lease while a webhook takes its time", async () => {
    const started = async () => (await world.recordsOf("slow")).filter(({ what }) => what === "started");
    const receiver = await world.receive((response) => {
      const renewed = vi.waitFor(async () => expect((await started()).length).toBeGreaterThan(3), 90_000);
      void renewed.then(() => response.writeHead(204).end());
    });
    const begun = performance.now();
    // The clock is slow, so that a busy machine does not lose the lease. Renewals follow real time.
    const worker = await world.dueWorker(monthly("slow", toWebhook("finance", receiver)), {
      now: () => world.now + Math.floor((performance.now() - begun) / 50),
      leaseMillis: 1_200,
    });
    await worker.turn();
    const records = await world.recordsOf("slow");
    expect(new Set((await started()).map(({ claim }) => claim)).size).toBe(1);
    expect(records.filter(({ what }) => what !== "started")).toMatchObject([{ what: "delivered", attempt: 1 }]);
  });

  it("are interrupted within seconds when a server stops, and immediately sent by another one", async () => {
    const receiver = await world.receive("hangs", 200);
    const config = monthly("stopped", toWebhook("finance", receiver, { timeout: "1m" }));
    const worker = await world.dueWorker(config);
    const turn = worker.turn();
    await receiver.until(1);
    const asked = performance.now();
    await worker.stop();
    await turn;
    // The webhook has a minute.
    expect(performance.now() - asked).toBeLessThan(30_000);
    expect(await world.statusOf(config)).toMatchObject({ state: "due" });
    await world.worker(config, { who: "server-b" }).turn();
    expect(await world.eventsOf("stopped")).toEqual([
      "1 started",
      "1 started",
      "1 stopped",
      "2 delivered",
      "2 started",
      "2 started",
    ]);
    expect(new Set(receiver.posted.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  it("contain no secret: not in a row, not in a list, not in a log", async () => {
    const receiver = await world.receive((response, { headers, path }) =>
      response.writeHead(403).end(`${headers["authorization"]} ${path} ${SECRETS.signingSecret}`),
    );
    const gone = await startReceiver();
    await gone.close();
    const to = [receiver, gone].map(({ url }, index) => ({
      name: `hook-${index}`,
      webhook: { url: `${url}/T0/secret-path?key=secret-key`, ...SECRETS },
    }));
    const config = withDeliveries({ name: "secretive", schedule: "0 6 3 * *", to });
    await (await world.dueWorker(config)).turn();
    const list = await listDeliveries(store, config.deliveries, world.now);
    const reasons = list.filter(({ state }) => state === "failed").map(({ reason }) => reason);
    expect(reasons).toContain("the webhook answered 403: Bearer … … …");
    expect(reasons).toContain("the webhook cannot be reached: ECONNREFUSED");
    const rows = await store.query("SELECT * FROM deliveries");
    const visible = JSON.stringify([rows, list, world.log]);
    for (const secret of [...Object.values(SECRETS), "secret-path", "secret-key"])
      expect(visible).not.toContain(secret);
  });

  it("fail with a message if a folder is missing", async () => {
    const config = monthly("nowhere", { name: "archive", folder: join(world.folder, "not-there") });
    await (await world.dueWorker(config)).turn();
    expect(await world.statusOf(config)).toMatchObject({
      state: "failed",
      reason: "the file cannot be written: the folder does not exist",
    });
  });
});
