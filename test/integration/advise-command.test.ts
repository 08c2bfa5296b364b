import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { playAs } from "../support/play-ledger.ts";

const PRICES = [
  { match: { model: "NVIDIA-A100*" }, from: "2026-01-01", per: "gpu-hour", effective: "3.60" },
  { match: { model: "NVIDIA-L4" }, from: "2026-01-01", per: "gpu-hour", effective: "0.80" },
  { match: { model: "NVIDIA-T4" }, from: "2026-01-01", per: "node-hour", effective: "0.60" },
];
const POLICIES = [{ name: "default" }, { name: "by-usage", basis: "usage" }];

/** Two GPUs for 4 h: vision holds one, and the notebook of nlp the other one from 01:00 to 03:00. 8 h × 3.60 = 28.80. */
const SCENARIO = {
  title: "two teams on one node",
  period: { start: "2026-03-01T00:00:00Z", end: "2026-03-01T04:00:00Z" },
  currency: "USD",
  nodes: [{ name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 2 }],
  namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
  pods: [
    {
      name: "train-0",
      namespace: "vision",
      node: "gpu-a",
      holds: { gpus: 1 },
      devices: [0],
      type: "training",
      activity: 0.75,
      memoryUsedMiB: 20_000,
    },
    {
      name: "notebook-0",
      namespace: "nlp",
      node: "gpu-a",
      holds: { gpus: 1 },
      devices: [1],
      type: "notebook",
      scheduled: "2026-03-01T01:00:00Z",
      finished: "2026-03-01T03:00:00Z",
      activity: 0.25,
      memoryUsedMiB: 8_000,
    },
  ],
  prices: PRICES,
  policies: POLICIES,
};

/** The same beside two free nodes for 4 h: 2 × 4 × 0.80 = 6.40 more, 35.20 in all. */
const WITH_FREE_NODES = {
  ...SCENARIO,
  nodes: [
    ...SCENARIO.nodes,
    { name: "gpu-b", model: "NVIDIA-L4", gpus: 1, pool: "small" },
    { name: "gpu-c", model: "NVIDIA-L4", gpus: 1, pool: "small" },
  ],
};

/** The same beside two nodes of two L4 with one pod each: 4 GPUs × 4 h × 0.80 = 12.80 more, 41.60 in all. */
const WITH_HALF_NODES = {
  ...SCENARIO,
  nodes: [
    ...SCENARIO.nodes,
    { name: "gpu-d", model: "NVIDIA-L4", gpus: 2, pool: "small" },
    { name: "gpu-e", model: "NVIDIA-L4", gpus: 2, pool: "small" },
  ],
  pods: [
    ...SCENARIO.pods,
    { name: "serve-0", namespace: "nlp", node: "gpu-d", holds: { gpus: 1 }, devices: [0], activity: 0.5 },
    {
      name: "serve-1",
      namespace: "nlp",
      node: "gpu-e",
      holds: { gpus: 1 },
      devices: [1],
      activity: 0.5,
      scheduled: "2026-03-01T01:30:00Z",
      finished: "2026-03-01T03:00:00Z",
    },
  ],
};

interface Compared {
  readonly was: { readonly total: string; readonly free: string };
  readonly otherwise: { readonly total: string; readonly free: string; readonly unpricedGpuHours: string };
  readonly changedGpuHours: number;
  readonly left: Readonly<Record<string, number>>;
  readonly lines: readonly { readonly team: string; readonly was: Amounts; readonly otherwise: Amounts }[];
}

interface Amounts {
  readonly cost: string;
  readonly gpuHours: string;
}

describe("gpu-ledger advise --what-if", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let config: string;
  const stores: StoreClient[] = [];
  let files = 0;

  beforeAll(async () => {
    folder = createCommandFolder();
    config = configOf("advise");
    const scenarios = { advise: SCENARIO, advise_nodes: WITH_FREE_NODES, advise_packed: WITH_HALF_NODES };
    for (const [database, scenario] of Object.entries(scenarios)) {
      const store = await createTestDatabase(database);
      stores.push(store);
      await playAs(store, "prod", readScenario(JSON.stringify(scenario), "the test"));
    }
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await folder.dispose();
  });

  function configOf(database: string): string {
    const { username, password } = embedded.user;
    const store = { kind: "clickhouse", database, clickhouse: { url: embedded.url, username, password } };
    return folder.write(`${database}.yaml`, { prices: PRICES, policies: POLICIES, store });
  }
  const run = (change: object, ...args: readonly string[]) => {
    const file = folder.write(`what-if-${(files += 1)}.yaml`, change);
    return folder.call(["advise", "2026-03", "--what-if", file, "--config", config, ...args]);
  };
  async function compared(change: object, ...args: readonly string[]): Promise<Compared> {
    const { code, stdout } = await run(change, "--format", "json", ...args);
    expect(code).toBe(0);
    return JSON.parse(stdout) as Compared;
  }
  const costs = ({ lines }: Compared): Readonly<Record<string, string>> =>
    Object.fromEntries(lines.map(({ team, otherwise }) => [team, otherwise.cost]));

  it("is the bill itself if nothing changes, to the last digit", async () => {
    const { was, otherwise, lines, changedGpuHours, left } = await compared({});
    expect(otherwise).toMatchObject(was);
    for (const line of lines) expect(line.otherwise).toEqual(line.was);
    expect([changedGpuHours, left]).toEqual([0, {}]);
    const report = await folder.call(["report", "2026-03", "--by", "team", "--format", "json", "--config", config]);
    type Row = { readonly dimensions: { readonly team: string }; readonly cost: string };
    const [{ rows }] = (JSON.parse(report.stdout) as { readonly reports: [{ readonly rows: readonly Row[] }] }).reports;
    expect(Object.fromEntries(lines.map(({ team, was: { cost } }) => [team, cost]))).toEqual(
      Object.fromEntries(rows.map(({ dimensions: { team }, cost }) => [team, cost])),
    );
  });

  it("saves the organization nothing if released GPUs stay: nobody holds them", async () => {
    // The notebook's 2 h × 3.60 = 7.20 go to the platform, beside the 7.20 of the GPU's other 2 h.
    const found = await compared({ changes: [{ release: { type: "notebook" } }] });
    expect(costs(found)).toEqual({ vision: "14.4", nlp: "0", platform: "14.4" });
    expect(found.otherwise).toMatchObject({ total: "28.8", free: "14.4" });
    expect(found.changedGpuHours).toBe(2);
  });

  it("saves the cost of released GPUs if they leave", async () => {
    const found = await compared({ freed: "leave", changes: [{ release: { team: "nlp" } }] });
    expect(costs(found)).toEqual({ vision: "14.4", nlp: "0", platform: "7.2" });
    expect(found.otherwise.total).toBe("21.6");
  });

  it("charges a fraction of a GPU", async () => {
    // 2 h × 0.25 × 3.60 = 1.80 for nlp; the other 5.40 are unallocated, beside 7.20.
    const found = await compared({ changes: [{ resize: { namespace: "nlp" }, to: { fraction: 0.25 } }] });
    expect(costs(found)).toEqual({ vision: "14.4", nlp: "1.8", platform: "12.6" });
    expect(found.otherwise.total).toBe("28.8");
  });

  it("charges a MIG instance by the ledger's own shares", async () => {
    // 2g.10gb of an A100 40GB: max(2 of 7 compute slices, 2 of 8 memory slices) = 2/7; 2 h × 2/7 × 3.60 = 2.057142857…
    const found = await compared({ changes: [{ resize: { pod: "notebook-*" }, to: { mig: "2g.10gb" } }] });
    expect(Number(costs(found)["nlp"])).toBeCloseTo((7.2 * 2) / 7, 8);
    expect(found.otherwise.total).toBe("28.8");
  });

  it("charges other GPUs, and leaves the held ones free", async () => {
    // vision: 4 h × 0.80 = 3.20, and its 14.40 become unallocated; if they leave, the bill is 28.80 - 14.40 + 3.20.
    const changes = [{ move: { team: "vision" }, to: { model: "NVIDIA-L4" } }];
    const stay = await compared({ changes });
    expect(costs(stay)).toEqual({ vision: "3.2", nlp: "7.2", platform: "21.6" });
    expect(stay.otherwise).toMatchObject({ total: "32", free: "21.6" });
    expect((await compared({ changes, freed: "leave" })).otherwise.total).toBe("17.6");
    const two = [{ move: { team: "vision" }, to: { model: "NVIDIA-L4", count: 2 } }];
    expect(costs(await compared({ changes: two }))["vision"]).toBe("6.4");
  });

  it("charges fewer nodes, for the hours in which nobody holds them", async () => {
    const ofNodes = (change: object) => compared(change, "--config", configOf("advise_nodes"));
    expect((await ofNodes({})).otherwise.total).toBe("35.2");
    const one = await ofNodes({ changes: [{ remove: { pool: "small" }, nodes: 1 }] });
    expect(one).toMatchObject({ otherwise: { total: "32" }, changedGpuHours: 4, left: {} });
    const all = await ofNodes({ changes: [{ remove: { node: "*" }, nodes: 9 }] });
    expect(all).toMatchObject({ otherwise: { total: "28.8" }, changedGpuHours: 8, left: { held: 8 } });
    const empty = await ofNodes({
      changes: [{ release: { namespace: "*" } }, { remove: { model: "*A100*" }, nodes: 1 }],
    });
    expect(empty.otherwise.total).toBe("6.4");
  });

  it("charges nodes without those whose pods have room on others", async () => {
    const ofNodes = (change: object) => compared(change, "--config", configOf("advise_packed"));
    expect((await ofNodes({})).otherwise.total).toBe("41.6");
    // gpu-e leaves: 2 GPUs × 4 h × 0.80 = 6.40, all unallocated. Its pod pays for 1.5 h, as before.
    const one = await ofNodes({ changes: [{ pack: { pool: "small" }, nodes: 1 }] });
    expect(one).toMatchObject({ otherwise: { total: "35.2" }, changedGpuHours: 8 });
    expect(one.left).toEqual({});
    expect(costs(one)["nlp"]).toBe(one.lines.find(({ team }) => team === "nlp")!.was.cost);
    // No node has room for the pod of gpu-d. The 2 h that gpu-e's pod takes on gpu-d are not counted again.
    const two = await ofNodes({ changes: [{ pack: { pool: "small" }, nodes: 2 }] });
    expect(two).toMatchObject({ otherwise: { total: "35.2" }, changedGpuHours: 8, left: { room: 6 } });
    const removed = await ofNodes({
      changes: [
        { remove: { node: "gpu-d" }, nodes: 1 },
        { pack: { node: "gpu-e" }, nodes: 1 },
      ],
    });
    // A node that is removed, and stays while it is held, takes no pods.
    expect(removed).toMatchObject({ otherwise: { total: "41.6" }, left: { held: 8, room: 8 } });
  });

  it.each([
    [{ pod: ["notebook-0", "another"] }, 2],
    [{ stage: "running", gpu: "*" }, 6],
    [{ gpu: "GPU-unknown" }, 0],
    [{ namespace: "*", from: "2026-03-01T02:00:00Z" }, 3],
    [{ namespace: "nlp", until: "2026-03-01T02:00:00Z" }, 1],
    [{ namespace: "*", hours: "sun 1-3" }, 4],
    [{ namespace: "*", hours: "sat" }, 0],
  ])("releases the holders in %j", async (release, hours) => {
    expect((await compared({ changes: [{ release }] })).changedGpuHours).toBe(hours);
  });

  it("charges a GPU of a node with several GPUs its part of the node's price", async () => {
    // A node of 4 T4 costs 0.60 an hour, so each GPU 0.15: 4 h × 2 × 0.15 = 1.20.
    const to = { model: "NVIDIA-T4", count: 2, nodeGpus: 4 };
    expect(costs(await compared({ changes: [{ move: { team: "vision" }, to }] }))["vision"]).toBe("1.2");
  });

  it("charges nodes that are paid for in another way", async () => {
    // 8 h × 1.00 for the node of two GPUs, which is 4 h × 1.00 for vision, 2 for nlp, and 2 unallocated.
    const prices = [
      { match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.60" },
      { match: { capacityType: "reserved" }, from: "2026-01-01", per: "gpu-hour", effective: "1.00" },
    ];
    const found = await compared({ prices, changes: [{ pay: { node: "gpu-a" }, as: "reserved" }] });
    expect(costs(found)).toEqual({ vision: "4", nlp: "2", platform: "2" });
    expect(found).toMatchObject({ otherwise: { total: "8" }, changedGpuHours: 8 });
    const same = await compared({ changes: [{ pay: { node: "*" }, as: "on-demand" }] });
    expect(same).toMatchObject({ otherwise: { total: "28.8" }, changedGpuHours: 0 });
  });

  it("charges by another policy, and by other prices", async () => {
    // By usage, vision pays 0.75 × 14.40, nlp 0.25 × 7.20, and the platform the rest of 28.80.
    expect(costs(await compared({ policy: "by-usage" }))).toEqual({ vision: "10.8", nlp: "1.8", platform: "16.2" });
    const prices = [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "2.00" }];
    expect(costs(await compared({ prices }))).toEqual({ vision: "8", nlp: "4", platform: "4" });
  });

  it.each([
    ["memory", { resize: { team: "vision" }, to: { mig: "1g.5gb" } }],
    ["memory", { resize: { team: "vision" }, to: { fraction: 0.4 } }],
    ["profile", { resize: { team: "vision" }, to: { mig: "3g.40gb" } }],
    ["price", { move: { team: "vision" }, to: { model: "NVIDIA-T4", count: 2 } }],
    ["price", { move: { team: "vision" }, to: { model: "NVIDIA-H200" } }],
  ])("leaves what cannot change as it was, with the reason: %s", async (because, change) => {
    const found = await compared({ changes: [change] });
    expect(found.left).toEqual({ [because]: 4 });
    expect(found.otherwise).toMatchObject(found.was);
  });

  it("applies the first change that fits", async () => {
    const changes = [{ resize: { pod: "notebook-0" }, to: { fraction: 0.5 } }, { release: { type: "/.*/" } }];
    expect(costs(await compared({ changes }))).toEqual({ vision: "0", nlp: "3.6", platform: "25.2" });
  });

  it("prints both bills side by side for people, and as CSV", async () => {
    const change = { changes: [{ release: { type: "notebook" } }] };
    expect((await run(change)).stdout).toBe(`2026-03 under the policy default: 28.8 USD as it was, 28.8 otherwise

team      USD as it was  otherwise  difference  GPU-hours  otherwise
nlp                 7.2        0          -7.2          2          0
platform            7.2       14.4         7.2          2          4
vision             14.4       14.4         0            4          4

The organization pays the same.
GPUs that nobody holds cost 7.2 USD more.
The changes affected 2 GPU-hours.
`);
    const csv = (await run(change, "--format", "csv")).stdout.split("\r\n");
    expect(csv[0]).toBe("team,cost,otherwiseCost,gpuHours,otherwiseGpuHours,currency");
    expect(csv).toContain("platform,7.2,14.4,2,4,USD");
  });

  it.each([
    [{ changes: [{ release: {} }] }, "changes[0] (line 1): a mapping is not one of { release }"],
    [{ changes: [{ shrink: { team: "a" } }] }, "one of { release }"],
    [
      { changes: [{ release: { team: "a" } }, { move: { team: "a" }, to: { model: "NVIDIA-L4" } }] },
      "an earlier change",
    ],
    [{ changes: [{ resize: { team: "a" }, to: { fraction: 2 } }] }, "changes[0] (line 1)"],
    [{ changes: [{ remove: { team: "a" }, nodes: 1 }] }, "changes[0] (line 1)"],
    [{ changes: [{ release: { hours: "7" } }] }, "changes[0] (line 1)"],
    [{ changes: [{ release: { from: "yesterday" } }] }, "changes[0] (line 1)"],
    [{ changes: [{ pay: { pool: "a" }, as: "rented" }] }, "changes[0] (line 1)"],
    [{ policy: "unknown" }, 'policy: "unknown" is not one of: default, by-usage'],
    [{ prices: [{ per: "gpu-hour" }] }, "prices.0"],
    [{ price: [] }, "price (line 1): no such key, the nearest is prices; see docs/advice.md"],
  ])("refuses %j with its reason", async (change, reason) => {
    const { code, stderr } = await run(change);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
  });
});
