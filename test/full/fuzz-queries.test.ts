import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Viewer } from "../../reports/access/viewer.ts";
import { askerOf, portOf } from "../../reports/server/route-table.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openBooks } from "../support/books.ts";
import { keepSampleAdvice } from "../support/sample-advice.ts";
import { createTestDatabase } from "../support/database.ts";
import { FUZZ_SEED, fuzz } from "../support/fuzz.ts";
import { oddRequests } from "../support/odd-queries.ts";
import { scenarioWith } from "../support/played.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";

const APRIL_5 = Date.UTC(2026, 3, 5);
const PRICES = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]';
/** A word in all names of the other team, except the team itself. No request has it. */
const HIDDEN = "zebrafish";
/** The hours of the team vision. */
const VISION_HOURS = 2;
/** The longest time of an answer on a busy machine. */
const MOST_MILLIS = 30_000;

/** Three GPUs for two hours: vision and nlp hold one each, one is free. */
const FLEET = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
  nodes: [
    { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 3, instanceType: "p4d", until: "2026-04-01T00:00:00Z" },
  ],
  namespaces: {
    vision: { labels: { team: "vision" } },
    [`${HIDDEN}-space`]: { labels: { team: "nlp", "cost-center": `${HIDDEN}-center`, project: `${HIDDEN}-project` } },
  },
  pods: [
    {
      name: "v-0",
      namespace: "vision",
      node: "gpu-a",
      holds: { gpus: 1 },
      devices: [0],
      activity: 1,
      labels: { "run-id": "r1" },
      type: "training",
    },
    {
      name: `${HIDDEN}-0`,
      namespace: `${HIDDEN}-space`,
      node: "gpu-a",
      holds: { gpus: 1 },
      devices: [1],
      activity: 0.5,
      labels: { "run-id": `${HIDDEN}-run` },
      type: "training",
    },
  ],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
});

const PATHS = Object.keys(portOf("server").routes).flatMap((route) => {
  const [method, path] = route.split(" ") as [string, string];
  return method === "GET" ? [path.replace("*", "x")] : [];
});
const MARCH = "span=2026-03";
const VALID = [
  `/?${MARCH}`,
  `/team?team=vision&${MARCH}`,
  `/team?team=nlp&${MARCH}`,
  `/workload?cluster=default&namespace=vision&workload=v-0&pod=v-0&${MARCH}`,
  `/node?cluster=default&node=gpu-a&${MARCH}`,
  `/gpu?cluster=default&node=gpu-a&gpu=1&${MARCH}`,
  "/fleet?node=gpu-a",
  "/queue",
  "/runbook?alert=GPUAllocatedIdle&namespace=vision&pod=v-0",
  "/advice?team=vision&kind=idle-workload&all=true",
  "/advice/card?id=0000000a11ce",
  "/advice/outcomes",
  "/api/v1/advice?team=vision&kind=idle-workload&until=2026-03-31&limit=2",
  "/statement?period=2026-03&team=nlp&costCenter=",
  `/explain?${MARCH}&where=team%3Dnlp&kind=showback&policy=default`,
  "/explain?line=default/gpu-a/1@2026-03-31T22:30:00Z",
  "/change?span=2026-03-31&compare=2026-03-30&where=team%3Dnlp",
  "/api/v1/change?span=2026-03-31&where=team%3Dnlp&policy=default&limit=2",
  `/policies?${MARCH}`,
  `/prices?${MARCH}`,
  `/api/v1/charges?${MARCH}&by=team,state&limit=2`,
  `/api/v1/charges?${MARCH}&by=namespace,workload&where=team%3Dnlp&format=csv`,
  `/api/v1/charges?${MARCH}&kind=chargeback&by=label.run-id&where=node%3Dgpu-a&format=ndjson`,
  `/api/v1/charges/lines?${MARCH}&format=csv&where=state%3Dactive`,
  `/api/v1/focus?${MARCH}&format=csv&check=true`,
  `/api/v1/focus?${MARCH}&format=manifest`,
  `/serving?${MARCH}&model=qwen&tenant=a&rule=gpu-time`,
  "/api/v1/statements?period=2026-03&team=nlp",
  `/api/v1/explain?${MARCH}&where=team%3Dnlp`,
  "/api/v1/explain?line=default/gpu-a/1@2026-03-31T22:30:00Z",
  `/api/v1/allocations?${MARCH}&where=node%3Dgpu-a&limit=10`,
  `/api/v1/owners?${MARCH}`,
  `/api/v1/serving/focus?${MARCH}&where=model%3Dqwen&rule=gpu-time&format=csv&check=true`,
  `/api/v1/serving/explain?${MARCH}&where=team%3Dnlp`,
  `/api/v1/serving?${MARCH}&by=model,tenant,phase&where=team%3Dnlp&rule=gpu-time&limit=2`,
  `/training?${MARCH}&team=vision`,
  "/training/run?id=default/vision/Pod/v-0@2026-03-31T22:00:00.000Z&policy=default",
  `/training/incidents?${MARCH}`,
  `/api/v1/training/runs?${MARCH}&team=vision&policy=default&limit=5`,
  "/api/v1/training/run?id=default/vision/Pod/v-0@2026-03-31T22:00:00.000Z",
  `/api/v1/training/incidents?${MARCH}&limit=5`,
  `/allocation/compute?window=2026-03-31T22:00:00Z,2026-04-01T00:00:00Z&aggregate=namespace,pod&includeIdle=true`,
  `/model/allocation?window=2026-03-31T22:00:00Z,2026-04-01T00:00:00Z&aggregate=label:run-id&filter=namespace%3A%22vision%22`,
];

interface Asked {
  readonly status: number;
  readonly body: string;
  readonly fault: string | undefined;
}

/** Returns the fault of the form of an answer: it is a failure of the server, or a problem that is no document. */
function faultOf(
  { status, type, body }: { readonly status: number; readonly type: string; readonly body: string },
  path: string,
  accept: string,
): string | undefined {
  if (status >= 500) return `${status} ${body}`;
  const isJson = /^application\/(problem\+)?json; charset=utf-8$/.test(type);
  const value = isJson ? (JSON.parse(body) as { readonly status?: number; readonly code?: number }) : undefined;
  if (status < 400) return undefined;
  if (/^\/(allocation|model)\b/.test(path)) return value?.code === status ? undefined : `no code: ${type} ${body}`;
  if (accept === "text/html" && !path.startsWith("/api/")) return type.startsWith("text/html") ? undefined : type;
  return type.startsWith("application/problem+json") && value?.status === status ? undefined : `${type} ${body}`;
}

/** Returns the part of an answer that a viewer of the team vision may not see. */
function leakOf(url: string, { status, body }: Asked): string | undefined {
  if (status !== 200) return body.includes(HIDDEN) ? "a name in a problem" : undefined;
  if (body.includes(HIDDEN)) return "a name of the other team";
  const path = url.split("?")[0]!;
  if (askerOf(portOf("server"), "GET", path) === "finance") return "a page of finance";
  if (path !== "/api/v1/charges" || !body.startsWith('{"currency"')) return undefined;
  const { total } = JSON.parse(body) as { readonly total: { readonly gpuHours: string } };
  return Number(total.gpuHours) > VISION_HOURS ? `${total.gpuHours} GPU-hours` : undefined;
}

/** Returns a request without one of its parameters, and with one of them alone; each parameter once. */
function partsOf(url: string): readonly string[] {
  const [path, search = ""] = url.split("?") as [string, string?];
  const words = search.split("&");
  return words.flatMap((word, index) => [`${path}?${words.toSpliced(index, 1).join("&")}`, `${path}?${word}`]);
}

describe(`requests with any parameters (FUZZ_SEED=${FUZZ_SEED})`, () => {
  let store: StoreClient;
  let server: ReportsServer;

  beforeAll(async () => {
    store = await createTestDatabase("fuzz_queries");
    const books = openBooks(store, FLEET);
    await books.arrive(FLEET);
    await books.settle(APRIL_5);
    await keepSampleAdvice(store);
    server = await createReportsServer(store, APRIL_5, PRICES);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  /** Asks a viewer's question. Returns the answer, and what is wrong with its form or its time. */
  async function ask(url: string, accept: string, of: Viewer): Promise<Asked> {
    const from = performance.now();
    const { statusCode: status, headers, body } = await server.get(url, of, accept === "" ? {} : { accept });
    const millis = performance.now() - from;
    const isSlow = millis > MOST_MILLIS ? `${millis} ms` : undefined;
    const form = { status, type: String(headers["content-type"]), body };
    return { status, body, fault: isSlow ?? faultOf(form, url.split("?")[0]!, accept) };
  }

  it("get the figures of all teams, so that the next test can find what is hidden", async () => {
    const asked: Asked[] = [];
    for (const url of VALID) asked.push(await ask(url, "*/*", FINANCE));
    expect(
      asked.flatMap(({ status, fault }) => (status === 200 && fault === undefined ? [] : [fault ?? status])),
    ).toEqual([]);
    const leaks = asked.map((each, index) => leakOf(VALID[index]!, each));
    expect(leaks.filter((leak) => leak === "a name of the other team").length).toBeGreaterThan(VALID.length / 3);
    expect(leaks).toContainEqual(expect.stringMatching(/GPU-hours|a page of finance/));
  });

  it("are answered or refused without any one of their parameters, and with one alone", async () => {
    const parts = [...new Set(VALID.flatMap(partsOf))];
    expect(parts.length).toBeGreaterThan(2 * VALID.length);
    for (const url of parts) {
      const asked = await ask(url, "*/*", VISION);
      expect({ url, fault: asked.fault, leak: leakOf(url, asked) }).toEqual({ url, fault: undefined, leak: undefined });
    }
  });

  it.each([
    { name: "a viewer of one team", viewer: VISION, part: 0.7 },
    { name: "finance", viewer: FINANCE, part: 0.3 },
  ])("are answered or refused, and have only rows of the viewer: $name", async ({ viewer, part }) => {
    const statuses = new Map<number, number>();
    await fuzz(part, oddRequests(PATHS, VALID), async ({ url, accept }) => {
      const asked = await ask(url, accept, viewer);
      statuses.set(asked.status, (statuses.get(asked.status) ?? 0) + 1);
      const leak = viewer === FINANCE ? undefined : leakOf(url, asked);
      expect({ fault: asked.fault, leak }).toEqual({ fault: undefined, leak: undefined });
    });
    const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
    process.stdout.write(`statuses: ${counts.join(", ")}\n`);
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 404]));
  });
});
