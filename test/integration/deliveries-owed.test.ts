import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastUnits } from "../../domain/exact/units.ts";
import { keepBreaches } from "../../processors/ledger/runs/breaches.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import { readAudit } from "../../processors/ledger/closing/audit.ts";
import { listDeliveries } from "../../reports/delivery/list.ts";
import type { DeliveryManifest } from "../../reports/delivery/manifest.ts";
import { retryDeliveries } from "../../reports/delivery/retry.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import {
  bookAfter,
  bookHour,
  bookMarch,
  chargeOf,
  createDeliveryWorld,
  DUE,
  monthly,
  SINCE,
  toWebhook,
  withDeliveries,
  type DeliveryWorld,
} from "../support/delivery-world.ts";
import { createTestDatabase } from "../support/database.ts";
import { DAY_MILLIS as DAY, MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";

describe("owed deliveries", () => {
  let store: StoreClient;
  let world: DeliveryWorld;

  beforeAll(async () => {
    store = await createTestDatabase("deliveries_owed");
    world = createDeliveryWorld(store, SINCE);
    await bookMarch(store);
  });
  afterAll(async () => {
    await world.dispose();
    await store.close();
  });

  it("do not include periods before a new schedule", async () => {
    const config = monthly("new", world.archive);
    world.now = DUE + 1;
    const worker = world.worker(config);
    await worker.turn();
    await worker.turn();
    expect(await world.recordsOf("new")).toEqual([]);
    const [next, ...others] = await listDeliveries(store, config.deliveries, world.now).then((list) =>
      list.filter(({ delivery }) => delivery === "new"),
    );
    expect(others).toEqual([]);
    expect(next).toMatchObject({ state: "scheduled", period: "2026-04", due: "2026-05-03T06:00:00.000Z" });
  });

  it("wait for prices, or are sent without them if that is allowed", async () => {
    const hour = Date.UTC(2026, 1, 10);
    const unpriced = chargeOf("nlp", hour, { gpuHours: lastUnits(2_500_000_000n), costs: undefined });
    await bookHour(store, hour, [chargeOf("vision", hour), unpriced]);
    const february = async (name: string, more: object) => {
      const config = withDeliveries({ name, schedule: "0 6 3 * *", to: [world.archive], ...more });
      world.now = Date.UTC(2026, 2, 1, 1);
      const worker = world.worker(config);
      await worker.turn();
      world.now = Date.UTC(2026, 2, 3, 6);
      await worker.turn();
      return await world.statusOf(config);
    };
    for (const format of ["csv", "focus", "lines-parquet"])
      expect(await february(`unpriced-${format}`, { report: { format } })).toMatchObject({
        state: "waiting",
        reason: "without a price: 2.5 GPU-hours (nlp 2.5); set allowUnpriced to deliver the file without them",
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

  it("do not send a FOCUS file that violates its rules", async () => {
    const receiver = await world.receive();
    const hour = Date.UTC(2026, 4, 10);
    await bookHour(store, hour, [chargeOf("vision", hour), chargeOf("nlp", hour, { gpuHours: lastUnits(0n) })]);
    await bookAfter(store, 4);
    const config = monthly("broken", toWebhook("finance", receiver), { report: { format: "focus" } });
    world.now = Date.UTC(2026, 5, 1);
    const worker = world.worker(config);
    await worker.turn();
    world.now = Date.UTC(2026, 5, 3, 6);
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "failed", tries: 1 });
    expect((await world.statusOf(config)).reason).toContain("the file breaks rules of FOCUS");
    expect(receiver.posted).toEqual([]);
  });

  it("wait until every hour is charged, and name a missing one", async () => {
    const [hour, cluster] = [Date.UTC(2026, 5, 30, 23), "prod"];
    const june = Date.UTC(2026, 6, 1);
    const config = monthly("settled", world.archive, { schedule: "1 0 1 * *" });
    world.now = june - DAY;
    const worker = world.worker(config);
    await worker.turn();
    world.now = june + MINUTE;
    await worker.turn();
    const reasonNow = async () => (await world.statusOf(config)).reason;
    expect(await reasonNow()).toBe("no hour after 2026-06 is charged yet: the ledger may be behind");
    const run = { cluster, windowStart: hour, runId: newRunId(), generation: 1, watermark: new Map<number, number>() };
    const content = { scrapes: 1, rows: 1, hash: "0" };
    await publishRun(store, "rollup", { ...run, publishedAt: june }, content);
    await publishRun(store, "usage", { ...run, publishedAt: june + 2 * MINUTE }, content);
    await bookAfter(store, 5, june + 12 * MINUTE - 1);
    world.now += MINUTE;
    await worker.turn();
    expect(await reasonNow()).toBe("2026-06 was partly charged in the last 10 minutes: more charges may come");
    await bookAfter(store, 5, june + 30 * MINUTE);
    world.now += MINUTE;
    await worker.turn();
    const reason = "not every hour of 2026-06 is charged yet: the first such hour is 2026-06-30T23:00:00.000Z of prod";
    expect(await world.statusOf(config)).toMatchObject({ state: "waiting", reason });
    // It is charged a minute after its end, and metered again after that.
    await bookHour(store, hour, [chargeOf("vision", hour)]);
    world.now += MINUTE;
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "waiting", reason });
    const charged = { ...run, runId: newRunId(), publishedAt: june + 3 * MINUTE };
    const breach = {
      policy: "default",
      node: "gpu-a",
      slot: "0",
      what: "effective",
      expected: "3",
      found: "2",
    } as const;
    await keepBreaches(store, charged, [breach]);
    await publishRun(store, "charge", charged, content);
    world.now += MINUTE;
    await worker.turn();
    expect(await reasonNow()).toBe("the charges of 2026-06 lack gpu-a: `gpu-ledger check` has the hour and the reason");
    await publishRun(store, "charge", { ...run, runId: newRunId(), publishedAt: june + 4 * MINUTE }, content);
    world.now += MINUTE;
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "delivered" });
    expect(await world.eventsOf("settled")).toEqual([
      "0 waiting",
      "0 waiting",
      "0 waiting",
      "0 waiting",
      "1 delivered",
      "1 started",
      "1 started",
    ]);
  });

  it("wait until a month is closed if they are configured to", async () => {
    const config = monthly("closed", world.archive, { waitFor: "closed" });
    const worker = await world.dueWorker(config);
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "waiting", reason: "2026-03 is not closed" });
    await store.insertJson("closings", [
      { billing_period: "2026-03-01", close_id: newRunId(), kind: "close", policies: "[]" },
    ]);
    world.now += MINUTE;
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "delivered" });
    await store.command("ALTER TABLE closings DELETE WHERE true SETTINGS mutations_sync = 1");
  });

  it("are given up after a time, and tried again on request, with the user and the reason recorded", async () => {
    const receiver = await world.receive(503);
    const config = monthly("given-up", toWebhook("finance", receiver), { giveUpAfter: "2m" });
    const late: number[] = [];
    const worker = await world.dueWorker(config, { onLook: (count) => late.push(count) });
    await worker.turn();
    world.now += MINUTE;
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({
      state: "given up",
      reason: "the webhook answered 503",
      tries: 2,
    });
    world.now += DAY;
    await worker.turn();
    expect(receiver.posted).toHaveLength(2);
    expect(late).toEqual([0, 0, 0, 1]);
    const retry = () =>
      retryDeliveries(store, { delivery: "given-up" }, { by: "ops", why: "they are back" }, world.now);
    receiver.answers = [200];
    expect(await retry()).toMatchObject([{ delivery: "given-up", recipient: "finance" }]);
    await expect(retry()).rejects.toThrow("given-up to finance, 2026-03: it is due, and is tried automatically");
    await worker.turn();
    expect(await world.statusOf(config)).toMatchObject({ state: "delivered", tries: 3 });
    expect(receiver.posted).toHaveLength(3);
    await expect(retry()).rejects.toThrow(
      "it was delivered at 2026-04-04T06:01:00.000Z, and a delivery is sent only once",
    );
    expect(await readAudit(store)).toContainEqual(
      expect.objectContaining({
        what: "delivery retried",
        who: "ops",
        why: "they are back",
        subject: "given-up to finance, 2026-03-01/2026-04-01",
      }),
    );
    expect(world.log.filter((line) => line.includes("a delivery was given up"))).toHaveLength(1);
  });
});
