import { join } from "node:path";
import { z } from "zod";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deliveriesOf } from "../../reports/delivery/delivery.ts";
import type { DeliveryStatus } from "../../reports/delivery/list.ts";
import { writeSchedule } from "../../reports/delivery/records.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createDeliveryWorld, withDeliveries, type DeliveryWorld } from "../support/delivery-world.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { createReportsServer, VISION } from "../support/reports-server.ts";
import { DAY_MILLIS as DAY, MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";

describe("deliveries by the command and the API", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let store: StoreClient;
  let receiver: Receiver;
  let world: DeliveryWorld;
  let config: Config;
  let file: string;
  let written: readonly object[];

  beforeAll(async () => {
    folder = createCommandFolder();
    store = await createTestDatabase("delivery_commands");
    receiver = await startReceiver("hangs");
    world = createDeliveryWorld(store, Date.now());
    // Half a day from now, so that no delivery becomes due during the test.
    const hour = (new Date(world.now).getUTCHours() + 12) % 24;
    const daily = { schedule: `0 ${hour} * * *`, period: "day", waitFor: "nothing" };
    written = [
      { ...daily, name: "to-finance", to: [{ name: "finance", webhook: { url: receiver.url, timeout: "10m" } }] },
      {
        ...daily,
        name: "to-nowhere",
        giveUpAfter: "1m",
        to: [{ name: "archive", folder: join(folder.path, "not-there") }],
      },
    ];
    config = withDeliveries(...written);
    const { username, password } = embedded.user;
    file = folder.write("gpu-ledger.json", {
      server: { listen: "127.0.0.1:0" },
      store: {
        kind: "clickhouse",
        database: "delivery_commands",
        clickhouse: { url: embedded.url, username, password },
      },
      deliveries: written,
    });
    // Both schedules have existed for two days, in which each was due twice.
    for (const { configured, recipient, definition } of deliveriesOf(config.deliveries)) {
      const known = { delivery: configured.name, recipient: recipient.name, definition, who: "server-a" };
      await writeSchedule(store, known, world.now - 2 * DAY);
    }
  });
  afterAll(async () => {
    await folder.dispose();
    await receiver.close();
    await world.dispose();
    await store.close();
  });

  const run = (...args: readonly string[]) => folder.call([...args, "--config", file]);
  const listed = async (...args: readonly string[]): Promise<readonly DeliveryStatus[]> =>
    JSON.parse((await run("deliveries", ...args, "--format", "json")).stdout) as DeliveryStatus[];
  const statesOf = (list: readonly DeliveryStatus[], name: string) =>
    list.filter(({ delivery }) => delivery === name).map(({ state }) => state);

  it("are made by `serve`; if one server is killed while it sends, others take over, and nothing is sent twice completely", async () => {
    const serving = folder.start(["serve", "--config", file]);
    await receiver.until(1);
    expect(statesOf(await listed(), "to-finance")).toEqual(["scheduled", "due", "under way"]);
    const metrics = await (await fetch(`${await serving.address()}/metrics`)).text();
    // For each delivery, the period that was due a day and a half ago.
    expect(metrics).toContain("gpu_ledger_deliveries_late 2\n");
    await serving.end("SIGKILL");
    receiver.answers = [200];
    // Two minutes of a lease, half a minute for different clocks, and a pause of a minute.
    for (let minutes = 0; minutes < 5; minutes++) {
      world.now += MINUTE;
      await world.worker(config, { who: "server-b" }).turn();
    }
    expect(statesOf(await listed("list"), "to-finance")).toEqual(["scheduled", "delivered", "delivered"]);
    const keys = receiver.posted.map(({ headers }) => headers["idempotency-key"]);
    expect({ posts: keys.length, periods: new Set(keys).size }).toEqual({ posts: 3, periods: 2 });
  });

  it("are listed as a table, with the reason of a delivery that was given up", async () => {
    const { code, stdout } = await run("deliveries");
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^delivery\s+to\s+period\s+due\s+state$/);
    expect(
      lines.filter((line) =>
        /^to-finance\s+finance\s+\S+\s+\S+\s+delivered \S+Z: to-finance-\S+\.csv, 0 USD$/.test(line),
      ),
    ).toHaveLength(2);
    expect(stdout).toMatch(
      /to-nowhere.*given up \S+Z after \S+( times)?: the file cannot be written: the folder does not exist/,
    );
    expect(stdout).toMatch(/to-nowhere\s+archive\s+\S+\s+\S+\s+scheduled/);
  });

  it("are tried again on request, but not if they were delivered", async () => {
    const why = ["--by", "ops", "--why", "the folder is there now"];
    expect(await run("deliveries", "retry", "to-finance")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^gpu-ledger: to-finance to finance, \S+: it was delivered at \S+, and a delivery is sent only once/,
      ) as string,
    });
    expect((await run("deliveries", "retry", "nothing")).stderr).toContain(
      "nothing: no delivery of the last 92 days was tried",
    );
    const [{ period }] = (await listed()).filter(({ state }) => state === "given up") as [DeliveryStatus];
    const retried = await run(
      "deliveries",
      "retry",
      "to-nowhere",
      "--recipient",
      "archive",
      "--period",
      period,
      ...why,
    );
    expect(retried).toEqual({ code: 0, stdout: `to-nowhere to archive, ${period}, is tried again\n`, stderr: "" });
    expect((await listed()).find((one) => one.delivery === "to-nowhere" && one.period === period)?.state).toBe("due");
    const { stdout } = await run("audit");
    expect(stdout).toMatch(/ops\s+delivery retried\s+to-nowhere to archive, \S+\s+the folder is there now/);
  });

  it("are in the API, for viewers of all teams", async () => {
    const server = await createReportsServer(store, world.now, JSON.stringify({ deliveries: written }));
    const answer = await server.get("/api/v1/deliveries");
    expect(answer.statusCode).toBe(200);
    const { deliveries } = answer.json<{ deliveries: DeliveryStatus[] }>();
    expect(deliveries).toHaveLength(6);
    expect(deliveries).toContainEqual(
      expect.objectContaining({
        delivery: "to-finance",
        state: "delivered",
        cost: "0",
        currency: "USD",
        isConfigured: true,
      }),
    );
    const { paths, components } = (await server.get("/api/v1/openapi.json")).json<{
      paths: Record<string, unknown>;
      components: { schemas: Record<string, object> };
    }>();
    expect(paths).toHaveProperty("/api/v1/deliveries");
    expect(
      z
        .fromJSONSchema(components.schemas["Deliveries"] as Parameters<typeof z.fromJSONSchema>[0])
        .safeParse({ deliveries }).error,
    ).toBeUndefined();
    const refused = await server.get("/api/v1/deliveries", VISION);
    expect(refused.statusCode).toBe(403);
    expect(refused.body).not.toContain("finance-");
    await server.close();
  });
});
