import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openBooks } from "../support/books.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";
import type { Viewer } from "../../reports/access/viewer.ts";

const APRIL_1_2 = Date.UTC(2026, 3, 1, 2, 30);
const WINDOW = "window=2026-03-31T22:00:00Z,2026-04-01T00:00:00Z";
const PRICES = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]';

/** Four GPUs at 3 an hour for two hours: vision holds two, nlp one for the first hour, the rest is free. */
const FLEET = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
  nodes: [
    { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 4, instanceType: "p4d", until: "2026-04-01T00:00:00Z" },
  ],
  namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
  pods: [
    {
      name: "v-0",
      namespace: "vision",
      node: "gpu-a",
      holds: { gpus: 2 },
      devices: [0, 1],
      activity: 0.5,
      labels: { "run-id": "r1" },
    },
    {
      name: "n-0",
      namespace: "nlp",
      node: "gpu-a",
      holds: { gpus: 1 },
      devices: [2],
      activity: 1,
      finished: "2026-03-31T23:00:00Z",
    },
  ],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
});

type Allocation = Readonly<Record<string, unknown>> & { readonly gpuCost: number; readonly totalCost: number };

describe("OpenCost's allocation API", () => {
  let store: StoreClient;
  let server: ReportsServer;

  async function sets(query: string, as: Viewer = FINANCE): Promise<readonly Record<string, Allocation>[]> {
    const answer = await server.get(`/allocation/compute?${query}`, as);
    expect(answer).toMatchObject({ statusCode: 200 });
    const { code, data } = answer.json<{ code: number; data: Record<string, Allocation>[] }>();
    expect(code).toBe(200);
    return data;
  }
  const costs = (set: Record<string, Allocation> | undefined) =>
    Object.fromEntries(Object.entries(set ?? {}).map(([name, { totalCost }]) => [name, totalCost]));

  beforeAll(async () => {
    store = await createTestDatabase("opencost");
    const books = openBooks(store, FLEET);
    await books.arrive(FLEET);
    await books.settle(APRIL_1_2);
    server = await createReportsServer(store, APRIL_1_2, PRICES);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  it("has OpenCost's fields for the cost of a namespace's GPUs", async () => {
    const [set] = await sets(`${WINDOW}&aggregate=namespace`);
    expect(Object.keys(set!)).toEqual(["nlp", "vision"]);
    expect(set!["vision"]).toMatchObject({
      name: "vision",
      properties: { cluster: "default", node: "gpu-a", namespace: "vision", pod: "v-0" },
      window: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
      start: "2026-03-31T22:00:00Z",
      end: "2026-04-01T00:00:00Z",
      minutes: 120,
      gpuCount: 2,
      gpuHours: 4,
      gpuCost: 12,
      gpuEfficiency: 0.5,
      cpuCost: 0,
      ramCost: 0,
      sharedCost: 0,
      totalCost: 12,
      totalEfficiency: 0.5,
    });
    expect(set!["nlp"]).toMatchObject({ minutes: 60, gpuCount: 1, gpuHours: 1, gpuCost: 3 });
  });

  it("shows idle capacity alone, or divides it by cost or evenly, so that the sum is the cost of the fleet", async () => {
    const asked = `${WINDOW}&aggregate=namespace`;
    expect(costs((await sets(`${asked}&includeIdle=true`))[0])).toEqual({ nlp: 3, vision: 12, __idle__: 9 });
    expect(costs((await sets(`${asked}&shareIdle=true`))[0])).toEqual({ nlp: 4.8, vision: 19.2 });
    expect(costs((await sets(`${asked}&shareIdle=true&shareSplit=even`))[0])).toEqual({ nlp: 7.5, vision: 16.5 });
    // Without any holder, idle capacity stays alone.
    const filtered = `${asked}&shareIdle=true&filter=${encodeURIComponent('namespace:"none"')}`;
    expect(costs((await sets(filtered))[0])).toEqual({ __idle__: 9 });
  });

  it("cuts a window into steps, or accumulates them", async () => {
    const asked = `${WINDOW}&aggregate=namespace`;
    expect((await sets(`${asked}&step=1h`)).map(costs)).toEqual([{ nlp: 3, vision: 6 }, { vision: 6 }]);
    expect((await sets(`${asked}&step=1h&accumulate=true`)).map(costs)).toEqual([{ nlp: 3, vision: 12 }]);
    expect((await sets(`window=4h&aggregate=all&accumulate=day`)).map(costs)).toEqual([{ "": 6 }, {}]);
    expect((await sets(`window=7d&aggregate=cluster`)).map(costs)).toEqual([{ default: 15 }]);
  });

  it.each([
    { aggregate: "", names: ["default/gpu-a/nlp/n-0", "default/gpu-a/vision/v-0"] },
    { aggregate: "team", names: ["nlp", "vision"] },
    { aggregate: "cluster,namespace", names: ["default/nlp", "default/vision"] },
    { aggregate: "label:run-id", names: ["__unallocated__", "r1"] },
    { aggregate: "label:run_id", names: ["__unallocated__", "r1"] },
    { aggregate: "controllerKind", names: ["__unallocated__"] },
    { aggregate: "controller", names: ["__unallocated__"] },
    { aggregate: "deployment", names: ["__unallocated__"] },
    { aggregate: "all", names: [""] },
  ])("aggregates by '$aggregate'", async ({ aggregate, names }) => {
    const [set] = await sets(`${WINDOW}&aggregate=${aggregate}`);
    expect(Object.keys(set!).toSorted()).toEqual(names);
    expect(Object.values(costs(set)).reduce((sum, cost) => sum + cost, 0)).toBe(15);
  });

  it.each([
    { filter: 'namespace:"vision"', names: ["vision"] },
    { filter: 'namespace!:"vision"', names: ["nlp"] },
    { filter: 'namespace:"vision","nlp"', names: ["nlp", "vision"] },
    { filter: 'pod<~:"v-"', names: ["vision"] },
    { filter: 'pod~>:"-0" + team~:"l"', names: ["nlp"] },
    { filter: 'label[run-id]:"r1" | node:"none"', names: ["vision"] },
    { filter: '(namespace:"nlp" | namespace:"vision") + label[run_id]!:"r1"', names: ["nlp"] },
    { filter: 'controllerKind!:"job"+cluster:"default"', names: ["nlp", "vision"] },
    { filter: `namespace:"x' OR 1=1 --"`, names: [] },
  ])("filters by $filter", async ({ filter, names }) => {
    const [set] = await sets(`${WINDOW}&aggregate=namespace&filter=${encodeURIComponent(filter)}`);
    expect(Object.keys(set!)).toEqual(names);
  });

  it.each([
    { query: "", message: "window" },
    { query: "window=nonsense", message: "window" },
    { query: "window=2026-04-02T00:00:00Z,2026-04-01T00:00:00Z", message: "window" },
    { query: "window=1d&aggregate=nothing", message: "aggregate" },
    { query: "window=1d&step=5m", message: "step" },
    { query: "window=1d&accumulate=sometimes", message: "accumulate" },
    { query: "window=9999d&step=1h", message: "sets" },
    { query: "window=1d&filter=namespace", message: "operator" },
    { query: "window=1d&filter=namespace:x", message: "quotes" },
    { query: `window=1d&filter=${encodeURIComponent('a:"1"+b:"2"|c:"3"')}`, message: "parentheses" },
    { query: `window=1d&filter=${encodeURIComponent('colour:"red"')}`, message: "colour" },
  ])("refuses $query like OpenCost, with the reason", async ({ query, message }) => {
    const answer = await server.get(`/allocation/compute?${query}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({ code: 400, message: expect.stringContaining(message) as string });
  });

  it("answers at OpenCost's and Kubecost's other addresses", async () => {
    const [own, other, model] = await Promise.all(
      ["allocation/compute", "allocation", "model/allocation"].map((path) => server.get(`/${path}?${WINDOW}`)),
    );
    expect(other!.body).toBe(own!.body);
    expect(model!.body).toBe(own!.body);
  });

  it("shows a team's viewer that team alone, and no idle capacity", async () => {
    const [set] = await sets(`${WINDOW}&aggregate=namespace&includeIdle=true&shareIdle=true`, VISION);
    expect(costs(set)).toEqual({ vision: 12 });
  });
});
