import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../../cli/program.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertInventory } from "../support/insert-facts.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { inventoryFact, NOON } from "../support/facts.ts";
import { createTestDatabase } from "../support/database.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const server = sharedStore();
let store: StoreClient;
let folder: CommandFolder;
let config: string;

const say = (fact: InventoryFact): Promise<void> => insertInventory(store, [fact]);

beforeAll(async () => {
  store = await createTestDatabase("prices");
  const [gpus] = inventoryFact().gpus;
  await say(inventoryFact({ seenAtMillis: NOON - 4 * HOUR, capacityType: "spot" }));
  await say(inventoryFact({ seenAtMillis: NOON - 2 * HOUR, resourceVersion: "101" }));
  await say(
    inventoryFact({ node: "gpu-b", uid: "node-2", seenAtMillis: NOON - HOUR, gpus: [{ ...gpus!, model: "L4" }] }),
  );
  folder = createCommandFolder();
  config = folder.write("config.yaml", {
    store: {
      kind: "clickhouse",
      database: "prices",
      clickhouse: { url: server.url, ...server.user },
    },
    prices: [
      { match: { model: "NVIDIA-H100*" }, from: "2026-01-01", per: "gpu-hour", list: "6.88" },
      {
        match: { capacityType: "spot", instanceType: "p5.48xlarge" },
        from: "2026-01-01",
        per: "node-hour",
        list: "20",
      },
    ],
  });
});
afterAll(async () => {
  await store.close();
  await folder.dispose();
});

async function prices(args: readonly string[]): Promise<{ readonly code: number; readonly stdout: string }> {
  const stdout = new PassThrough();
  let printed = "";
  stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const program = createProgram({ stdout, stderr: new PassThrough(), stdin: new PassThrough(), env: {} });
  return {
    code: await program.run(["prices", ...(args.includes("--config") ? args : [...args, "--config", config])]),
    stdout: printed,
  };
}

describe("a price book beside the store's inventory", () => {
  it("is shown for each node at a past time", async () => {
    const shown = async (at: number, ...args: readonly string[]): Promise<unknown> => {
      const time = new Date(at).toISOString();
      return JSON.parse((await prices(["show", "--at", time, "--format", "json", ...args])).stdout) as unknown;
    };
    expect(await shown(NOON - 3 * HOUR)).toMatchObject([
      {
        node: "gpu-a",
        capacityType: "spot",
        entries: ["p5.48xlarge spot from 2026-01-01"],
        price: { per: "node-hour", list: "20" },
      },
    ]);
    expect(await shown(NOON)).toMatchObject([
      { node: "gpu-a", capacityType: "on-demand", entries: ["NVIDIA-H100* from 2026-01-01"] },
      { node: "gpu-b", model: "L4", status: "unpriced" },
    ]);
    expect(await shown(NOON, "--node", "gpu-b")).toHaveLength(1);
  });

  it("is shown with the embedded store of an `up` that runs with the same data folder", async () => {
    mkdirSync(join(folder.path, "data/store"), { recursive: true });
    folder.write("data/store/credentials.json", { internal: server.user });
    folder.write("data/store/address", server.url);
    const embedded = folder.write("embedded.yaml", {
      data: join(folder.path, "data"),
      store: { database: "prices" },
      prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", list: "6.88" }],
    });
    const time = new Date(NOON).toISOString();
    const args = ["show", "--at", time, "--node", "gpu-b", "--format", "json"];
    expect(JSON.parse((await prices([...args, "--config", embedded])).stdout)).toMatchObject([
      { node: "gpu-b", model: "L4", entries: ["everything from 2026-01-01"] },
    ]);
  });

  it("is checked against every node of a period", async () => {
    const period = ["--from", "2026-03-01", "--until", "2026-03-02"];
    const { code, stdout } = await prices(["check", ...period, "--format", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      nodes: 3,
      problems: [
        {
          kind: "gap",
          node: "test/gpu-b",
          from: "2026-03-01T11:00:00Z",
          until: "2026-03-02",
          message: "no entry matches (p5.48xlarge, L4, on-demand)",
        },
      ],
    });
  });
});
