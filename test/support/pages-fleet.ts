import type { Scenario } from "../../scenarios/files.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openBooks } from "./books.ts";
import { createFilledDatabase } from "./database.ts";
import { scenarioWith } from "./played.ts";

/** A time when everything of the fleet is over and charged. */
export const NOON = Date.UTC(2026, 2, 31, 12);
/** A team's name with markup, a formula and a change of direction. */
export const HOSTILE = `<img src=x onerror="document.title='taken'">'";--\u202E`;
/** The configuration of the fleet's server. */
export const PRICES_CONFIG = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]';

/** A database in which the fleet has arrived and is charged, at 3.00 per GPU-hour. */
export function createPagesDatabase(database: string): Promise<StoreClient> {
  return createFilledDatabase(database, "pages_fleet", async (store) => {
    const fleet = pagesFleet("3.00");
    const books = openBooks(store, fleet);
    await books.arrive(fleet);
    await books.settle(NOON);
  });
}

/** Four GPUs for four hours: of vision, of nlp, of a team with markup in its name, and a free one; with a price per GPU-hour. */
export function pagesFleet(price: string): Scenario {
  return scenarioWith({
    period: { start: "2026-03-31T08:00:00Z", end: "2026-03-31T12:00:00Z" },
    nodes: [
      { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 4, instanceType: "p4d", until: "2026-03-31T12:00:00Z" },
    ],
    namespaces: {
      vision: { labels: { team: "vision" } },
      nlp: { labels: { team: "nlp" } },
      odd: { labels: { team: HOSTILE } },
    },
    pods: ["vision", "nlp", "odd"].map((namespace, place) => ({
      name: `${namespace}-0`,
      namespace,
      node: "gpu-a",
      holds: { gpus: 1 },
      devices: [place],
      activity: 0.25 * (place + 1),
    })),
    prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: price }],
  });
}

/** Pages for viewers of some teams or all of them. */
export const PAGES = [
  "/",
  "/search?q=gpu",
  "/?span=7d",
  "/fleet",
  "/fleet?show=owner&state=idle",
  "/sick",
  "/queue",
  "/statement?period=2026-03",
  "/statement?period=2026-03&team=vision&costCenter=",
  "/explain?span=2026-03",
  "/change?span=2026-03-31T10:00Z/2026-03-31T12:00Z",
  "/explain?line=default/gpu-a/0@2026-03-31T09:30:00Z",
  "/team?team=vision&span=2026-03",
  "/workload?cluster=default&namespace=vision&pod=vision-0&span=2026-03",
  "/node?cluster=default&node=gpu-a&span=2026-03",
  "/gpu?cluster=default&node=gpu-a&gpu=0&span=2026-03",
  "/node?cluster=default&node=gpu-a&window=day&at=2026-03-31T09:30:00Z&span=2026-03",
  "/advice",
  "/advice?team=vision&kind=idle-workload&all=true",
  "/advice/card?id=0000000a11ce",
  "/policies?span=2026-03",
  "/periods",
  "/practices",
  "/practices?check=namespace-without-limit-range",
  "/runbook",
  "/runbook?alert=GPUAllocatedIdle&cluster=default&namespace=vision&pod=vision-0",
  "/runbook?alert=GPULedgerDeadLetters",
];
/** Pages for viewers of all teams. */
export const OF_ALL = ["/prices?span=2026-03", "/quality"];
/** Views with nothing to show. */
export const EMPTY = [
  "/?span=2025-01",
  "/team?team=nobody",
  "/explain?span=2025-01",
  "/statement?period=2025-01",
  "/advice?team=nobody",
  "/login",
];
