import { createHash, createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amountOf, formatAmount, lastUnits, sum } from "../../domain/exact/units.ts";
import { newRunId, publishRun } from "../../processors/runs.ts";
import { readAudit } from "../../processors/closing/audit.ts";
import { listDeliveries, type DeliveryStatus } from "../../reports/delivery/list.ts";
import type { DeliveryManifest } from "../../reports/delivery/manifest.ts";
import { claimAttempt, readRecords, type DeliveryRecord } from "../../reports/delivery/records.ts";
import { retryDeliveries } from "../../reports/delivery/retry.ts";
import { readReport } from "../../reports/report/read.ts";
import { readSpan, type Span } from "../../reports/question/span.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { createStoreClient, type StoreClient } from "../../runtime/store/client.ts";
import {
  bookHour,
  chargeOf,
  createDeliveryWorld,
  withDeliveries,
  type DeliveryWorld,
} from "../support/delivery-world.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/pipeline.ts";
import { startReceiver, type Receiver, type ReceiverAnswer } from "../support/receiver.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const DAY = 24 * HOUR;
const MARCH = Date.UTC(2026, 2, 1);
const SINCE = Date.UTC(2026, 3, 1, 12);
/** When March is due. */
const DUE = Date.UTC(2026, 3, 3, 6);
const SECRETS = { bearerToken: "token-7f3a", signingSecret: "sign-91bc" };

const spanOf = (text: string): Span => (readSpan(text, 0) as { span: Span }).span;

describe("deliveries", () => {
  let embedded: TestStore;
  let store: StoreClient;
  let world: DeliveryWorld;
  const receivers: Receiver[] = [];

  beforeAll(async () => {
    embedded = await startTestStore();
    store = await createTestDatabase(embedded, "deliveries");
    world = createDeliveryWorld(store, SINCE);
    for (const [index, team] of ["vision", "nlp", "vision"].entries()) {
      const hour = MARCH + index * HOUR;
      await bookHour(store, hour, [chargeOf(team, hour), chargeOf("ops", hour)]);
    }
  });
  afterAll(async () => {
    for (const receiver of receivers) await receiver.close();
    world.dispose();
    await store.close();
    await embedded.stop();
  });

  async function receive(...answers: ReceiverAnswer[]): Promise<Receiver> {
    const receiver = await startReceiver(...answers);
    receivers.push(receiver);
    return receiver;
  }
  const toFolder = (name: string) => ({ name, folder: world.folder });
  const toWebhook = (name: string, { url }: Receiver, more: object = {}) => ({
    name,
    webhook: { url: `${url}/hook`, timeout: "1s", ...more },
  });
  const monthly = (name: string, to: object, more: object = {}): Config =>
    withDeliveries({ name, schedule: "0 6 3 * *", to: [to], ...more });
  /** A courier that knows its schedules since before March was due, when that has come. */
  async function dueCourier(config: Config, more: Parameters<DeliveryWorld["courier"]>[1] = {}) {
    world.now = SINCE;
    const courier = world.courier(config, more);
    await courier.turn();
    world.now = DUE;
    return courier;
  }
  const recordsOf = async (name: string): Promise<readonly DeliveryRecord[]> =>
    (await readRecords(store, 0)).filter(({ delivery }) => delivery === name);
  const eventsOf = async (name: string): Promise<readonly string[]> =>
    (await recordsOf(name)).map(({ what, attempt }) => `${attempt} ${what}`).toSorted();
  const statusOf = async (config: Config): Promise<DeliveryStatus> => {
    const { name } = config.deliveries[0]!;
    const list = await listDeliveries(store, config.deliveries, world.now);
    return list.find(({ delivery, state }) => delivery === name && state !== "scheduled")!;
  };

  it("put a file into a folder, whose sums are the report's to the last digit, and what it is beside it", async () => {
    const config = monthly("to-folder", toFolder("archive"));
    const courier = await dueCourier(config);
    await courier.turn();
    const csv = readFileSync(join(world.folder, "to-folder-2026-03.csv"));
    const manifest = JSON.parse(
      readFileSync(join(world.folder, "to-folder-2026-03.csv.manifest.json"), "utf8"),
    ) as DeliveryManifest;
    const question = { policy: "default", kind: "chargeback", span: spanOf("2026-03"), where: [] } as const;
    const { total } = await readReport(store, { ...question, by: [] }, "USD");
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
    await courier.turn();
    expect(await eventsOf("to-folder")).toEqual(["1 delivered", "1 started", "1 started"]);
    expect(readdirSync(world.folder).filter((name) => name.includes("unfinished") || name.startsWith("gpu-"))).toEqual(
      [],
    );
    expect(await statusOf(config)).toMatchObject({
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
  ])("make %s, and say what is in it", async (format) => {
    const name = `as-${format}`;
    const config = monthly(name, toFolder("archive"), { report: { format } });
    await (await dueCourier(config)).turn();
    expect(await statusOf(config)).toMatchObject({ state: "delivered", cost: "7.407407346", gpuHours: "6" });
    const [file, manifest] = readdirSync(world.folder).filter((entry) => entry.startsWith(`${name}-2026`));
    expect(readFileSync(join(world.folder, file!)).length).toBeGreaterThan(100);
    const { focus } = JSON.parse(readFileSync(join(world.folder, manifest!), "utf8")) as DeliveryManifest;
    expect(focus?.check?.isPassed).toBe(format.startsWith("focus") ? true : undefined);
  });

  it("post to a webhook what says itself who it is from, what it is, and that nobody changed it", async () => {
    const receiver = await receive();
    await (await dueCourier(monthly("to-webhook", toWebhook("finance", receiver, SECRETS)))).turn();
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

  it("are tried again after growing pauses where a webhook hangs or answers 500, under one key, until it takes it", async () => {
    const receiver = await receive("hangs", (response) => response.writeHead(500).end("try\nlater"), 200);
    const config = monthly("stubborn", toWebhook("finance", receiver));
    const courier = await dueCourier(config);
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({
      state: "failed",
      reason: "it did not answer within 1 s",
      nextTry: "2026-04-03T06:01:00.000Z",
    });
    world.now = DUE + MINUTE - 1;
    await courier.turn();
    expect(receiver.posted).toHaveLength(1);
    world.now = DUE + MINUTE;
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({
      state: "failed",
      reason: "it answered 500: try later",
      nextTry: "2026-04-03T06:03:00.000Z",
    });
    world.now = DUE + 3 * MINUTE;
    await courier.turn();
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "delivered", tries: 3 });
    const keys = receiver.posted.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual(Array.from({ length: 3 }, () => "stubborn/finance/2026-03"));
    expect(receiver.posted.map(({ headers }) => headers["x-gpu-ledger-attempt"])).toEqual(["1", "2", "3"]);
  });

  it("follow no redirect, and tell nothing to where it leads", async () => {
    const other = await receive();
    const receiver = await receive((response) => response.writeHead(307, { location: other.url }).end());
    const config = monthly("redirected", toWebhook("finance", receiver, SECRETS));
    await (await dueCourier(config)).turn();
    expect(await statusOf(config)).toMatchObject({
      state: "failed",
      reason: "it answered 307: redirects are not followed",
    });
    expect(other.posted).toEqual([]);
  });

  it("go to each recipient once for each period, with two servers at once", async () => {
    const receiver = await receive();
    const config = withDeliveries({
      name: "daily",
      schedule: "0 6 * * *",
      period: "day",
      waitFor: "nothing",
      to: [toFolder("archive"), toWebhook("finance", receiver)],
    });
    const otherStore = createStoreClient({ url: embedded.url, ...embedded.internal, database: store.database });
    const couriers = ["server-a", "server-b"].map((who, index) =>
      world.courier(config, { who, store: index === 0 ? store : otherStore }),
    );
    const turns = () => Promise.all(couriers.map((courier) => courier.turn()));
    world.now = SINCE;
    await turns();
    // A week in which no server ran.
    world.now = SINCE + 7 * DAY;
    await turns();
    await turns();
    await otherStore.close();
    const days = ["01", "02", "03", "04", "05", "06", "07"].map((day) => `2026-04-${day}`);
    const delivered = (await recordsOf("daily")).filter(({ what }) => what === "delivered");
    const of = (name: string) =>
      new Set(delivered.filter(({ recipient }) => recipient === name).map(({ from }) => from));
    expect(delivered).toHaveLength(14);
    expect(of("archive")).toEqual(new Set(days.map((day) => Date.parse(day))));
    expect(of("finance")).toEqual(new Set(days.map((day) => Date.parse(day))));
    expect(receiver.posted).toHaveLength(7);
    expect(new Set(receiver.posted.map(({ headers }) => headers["x-gpu-ledger-period"]))).toEqual(new Set(days));
    expect(readdirSync(world.folder).filter((name) => /^daily-.*\.csv$/.test(name))).toHaveLength(7);
  });

  it("claim an attempt for one of many servers at once", async () => {
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

  it("are taken over by another server when the lease of one that ended has run out", async () => {
    const receiver = await receive();
    const config = monthly("orphaned", toWebhook("finance", receiver));
    const courier = await dueCourier(config);
    const { from, until } = spanOf("2026-03");
    const occasion = { delivery: "orphaned", recipient: "finance", from, until, due: DUE };
    const lost = { attempt: 1, at: DUE, who: "server-b", leaseMillis: 2 * MINUTE };
    expect(await claimAttempt(store, occasion, lost)).toMatchObject({ attempt: 1 });
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "under way", tries: 1 });
    world.now = DUE + 3 * MINUTE;
    await courier.turn();
    expect(receiver.posted).toEqual([]);
    expect(await statusOf(config)).toMatchObject({
      state: "failed",
      reason: "server-b ended before it told how it went",
    });
    world.now = DUE + 4 * MINUTE;
    await courier.turn();
    expect(receiver.posted).toHaveLength(1);
    expect(await statusOf(config)).toMatchObject({ state: "delivered", tries: 2 });
  });

  it("are not sent by a server whose lease ran out while it made the file", async () => {
    const receiver = await receive();
    const config = monthly("stalled", toWebhook("finance", receiver));
    let isClaimed = false;
    const stalling: StoreClient = {
      ...store,
      async insertJson(table, rows, options) {
        isClaimed ||= options?.onceFor !== undefined;
        return await store.insertJson(table, rows, options);
      },
      async query(sql, parameters) {
        // The machine stands still for a while when it reads what the file is made of.
        if (isClaimed && sql.includes("charges_published")) world.now = DUE + 10 * MINUTE;
        return await store.query(sql, parameters);
      },
    };
    const courier = await dueCourier(config, { store: stalling });
    await courier.turn();
    expect(receiver.posted).toEqual([]);
    expect(await eventsOf("stalled")).toEqual(["1 started"]);
    isClaimed = false;
    await world.courier(config).turn();
    expect(receiver.posted).toHaveLength(1);
    expect(await statusOf(config)).toMatchObject({ state: "delivered", tries: 2 });
  });

  it("keep their lease while a webhook takes its time", async () => {
    const receiver = await receive((response) => void setTimeout(() => response.writeHead(204).end(), 700));
    const begun = performance.now();
    const courier = await dueCourier(monthly("slow", toWebhook("finance", receiver)), {
      now: () => world.now + Math.floor(performance.now() - begun),
      leaseMillis: 400,
    });
    await courier.turn();
    const records = await recordsOf("slow");
    const started = records.filter(({ what }) => what === "started");
    expect(started.length).toBeGreaterThan(3);
    expect(new Set(started.map(({ claim }) => claim)).size).toBe(1);
    expect(records.filter(({ what }) => what !== "started")).toMatchObject([{ what: "delivered", attempt: 1 }]);
  });

  it("are broken off within seconds when a server stops, and sent by another one at once", async () => {
    const receiver = await receive("hangs", 200);
    const config = monthly("stopped", toWebhook("finance", receiver, { timeout: "1m" }));
    const courier = await dueCourier(config);
    const turn = courier.turn();
    await receiver.until(1);
    const asked = performance.now();
    await courier.stop();
    await turn;
    expect(performance.now() - asked).toBeLessThan(2_000);
    expect(await statusOf(config)).toMatchObject({ state: "due" });
    await world.courier(config, { who: "server-b" }).turn();
    expect(await eventsOf("stopped")).toEqual([
      "1 started",
      "1 started",
      "1 stopped",
      "2 delivered",
      "2 started",
      "2 started",
    ]);
    expect(new Set(receiver.posted.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  it("of a schedule that is new owe nothing of before", async () => {
    const config = monthly("new", toFolder("archive"));
    world.now = DUE + 1;
    const courier = world.courier(config);
    await courier.turn();
    await courier.turn();
    expect(await recordsOf("new")).toEqual([]);
    const [next, ...others] = await listDeliveries(store, config.deliveries, world.now).then((list) =>
      list.filter(({ delivery }) => delivery === "new"),
    );
    expect(others).toEqual([]);
    expect(next).toMatchObject({ state: "scheduled", period: "2026-04", due: "2026-05-03T06:00:00.000Z" });
  });

  it("wait for prices, and are sent without them where that is allowed", async () => {
    const hour = Date.UTC(2026, 1, 10);
    const unpriced = chargeOf("nlp", hour, { gpuHours: lastUnits(2_500_000_000n), costs: undefined });
    await bookHour(store, hour, [chargeOf("vision", hour), unpriced]);
    const february = async (name: string, more: object) => {
      const config = withDeliveries({ name, schedule: "0 6 3 * *", to: [toFolder("archive")], ...more });
      world.now = Date.UTC(2026, 2, 1, 1);
      const courier = world.courier(config);
      await courier.turn();
      world.now = Date.UTC(2026, 2, 3, 6);
      await courier.turn();
      return await statusOf(config);
    };
    for (const format of ["csv", "focus", "lines-parquet"])
      expect(await february(`unpriced-${format}`, { report: { format } })).toMatchObject({
        state: "waiting",
        reason: "without a price: 2.5 GPU-hours (nlp 2.5); allowUnpriced delivers it all the same",
        tries: 0,
      });
    const others = { where: { team: ["vision"] } };
    expect(await february("unpriced-of-others", { report: others })).toMatchObject({ state: "delivered" });
    const focus = { report: { format: "focus" }, allowUnpriced: true };
    expect(await february("unpriced-allowed", focus)).toMatchObject({ state: "delivered", gpuHours: "1" });
    const file = join(world.folder, "unpriced-allowed-2026-02.csv.manifest.json");
    expect((JSON.parse(readFileSync(file, "utf8")) as DeliveryManifest).unpriced).toEqual([
      { team: "nlp", lines: 1, gpuHours: "2.5" },
    ]);
  });

  it("send no FOCUS that breaks its rules", async () => {
    const receiver = await receive();
    const hour = Date.UTC(2026, 4, 10);
    await bookHour(store, hour, [chargeOf("vision", hour), chargeOf("nlp", hour, { gpuHours: lastUnits(0n) })]);
    const config = monthly("broken", toWebhook("finance", receiver), { report: { format: "focus" } });
    world.now = Date.UTC(2026, 5, 1);
    const courier = world.courier(config);
    await courier.turn();
    world.now = Date.UTC(2026, 5, 3, 6);
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "failed", tries: 1 });
    expect((await statusOf(config)).reason).toContain("the file breaks rules of FOCUS");
    expect(receiver.posted).toEqual([]);
  });

  it("wait until every hour is charged, and say which is not", async () => {
    const [hour, cluster] = [Date.UTC(2026, 5, 30, 23), "prod"];
    const june = Date.UTC(2026, 6, 1);
    const config = monthly("settled", toFolder("archive"), { schedule: "1 0 1 * *" });
    world.now = june - DAY;
    const courier = world.courier(config);
    await courier.turn();
    world.now = june + MINUTE;
    await courier.turn();
    expect((await statusOf(config)).reason).toBe("2026-06 has only just ended: its last hour may not be charged yet");
    const run = { cluster, windowStart: hour, runId: newRunId(), generation: 1, watermark: new Map<number, number>() };
    const content = { scrapes: 1, rows: 1, hash: "0" };
    await publishRun(store, "rollup", { ...run, publishedAt: june }, content);
    await publishRun(store, "usage", { ...run, publishedAt: june + 2 * MINUTE }, content);
    world.now = june + 11 * MINUTE;
    await courier.turn();
    const reason = "not every hour of 2026-06 is charged yet: the first is that from 2026-06-30T23:00:00.000Z of prod";
    expect(await statusOf(config)).toMatchObject({ state: "waiting", reason });
    // It is charged a minute after its end, and metered again after that.
    await bookHour(store, hour, [chargeOf("vision", hour)]);
    world.now += MINUTE;
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "waiting", reason });
    await publishRun(store, "charge", { ...run, runId: newRunId(), publishedAt: june + 3 * MINUTE }, content);
    world.now += MINUTE;
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "delivered" });
    expect(await eventsOf("settled")).toEqual(["0 waiting", "0 waiting", "1 delivered", "1 started", "1 started"]);
  });

  it("wait until a month is closed, where they are asked to", async () => {
    const config = monthly("closed", toFolder("archive"), { waitFor: "closed" });
    const courier = await dueCourier(config);
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "waiting", reason: "2026-03 is not closed" });
    await store.insertJson("closings", [
      { billing_period: "2026-03-01", close_id: newRunId(), kind: "close", policies: "[]" },
    ]);
    world.now += MINUTE;
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "delivered" });
    await store.command("ALTER TABLE closings DELETE WHERE true SETTINGS mutations_sync = 1");
  });

  it("are given up after a time, and tried again when somebody wants it, who and why being kept", async () => {
    const receiver = await receive(503);
    const config = monthly("given-up", toWebhook("finance", receiver), { giveUpAfter: "2m" });
    const late: number[] = [];
    const courier = await dueCourier(config, { onLook: (count) => late.push(count) });
    await courier.turn();
    world.now += MINUTE;
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "given up", reason: "it answered 503", tries: 2 });
    world.now += DAY;
    await courier.turn();
    expect(receiver.posted).toHaveLength(2);
    expect(late).toEqual([0, 0, 0, 1]);
    const retry = () =>
      retryDeliveries(store, { delivery: "given-up" }, { by: "ops", why: "they are back" }, world.now);
    receiver.answers = [200];
    expect(await retry()).toMatchObject([{ delivery: "given-up", recipient: "finance" }]);
    await expect(retry()).rejects.toThrow("given-up to finance, 2026-03: it is due, and tried by itself");
    await courier.turn();
    expect(await statusOf(config)).toMatchObject({ state: "delivered", tries: 3 });
    expect(receiver.posted).toHaveLength(3);
    await expect(retry()).rejects.toThrow("it was delivered at 2026-04-04T06:01:00.000Z, and is delivered once");
    expect(await readAudit(store, 0)).toContainEqual(
      expect.objectContaining({
        what: "delivery retried",
        who: "ops",
        why: "they are back",
        subject: "given-up to finance, 2026-03-01/2026-04-01",
      }),
    );
    expect(world.log.filter((line) => line.includes("a delivery is given up"))).toHaveLength(1);
  });

  it("tell no secret: not in a row, not in a list, not in a log", async () => {
    const receiver = await receive((response, { headers, path }) =>
      response.writeHead(403).end(`${headers["authorization"]} ${path} ${SECRETS.signingSecret}`),
    );
    const gone = await startReceiver();
    await gone.close();
    const to = [receiver, gone].map(({ url }, index) => ({
      name: `hook-${index}`,
      webhook: { url: `${url}/T0/secret-path?key=secret-key`, ...SECRETS },
    }));
    const config = withDeliveries({ name: "secretive", schedule: "0 6 3 * *", to });
    await (await dueCourier(config)).turn();
    const list = await listDeliveries(store, config.deliveries, world.now);
    const reasons = list.filter(({ state }) => state === "failed").map(({ reason }) => reason);
    expect(reasons).toContain("it answered 403: Bearer … … …");
    expect(reasons).toContain("it cannot be reached: ECONNREFUSED");
    const rows = await store.query("SELECT * FROM deliveries");
    const told = JSON.stringify([rows, list, world.log]);
    for (const secret of [...Object.values(SECRETS), "secret-path", "secret-key"]) expect(told).not.toContain(secret);
  });

  it("fail where a folder is not there, and say so", async () => {
    const config = monthly("nowhere", { name: "archive", folder: join(world.folder, "not-there") });
    await (await dueCourier(config)).turn();
    expect(await statusOf(config)).toMatchObject({
      state: "failed",
      reason: "the folder does not take it: it is not there",
    });
  });
});
