import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Viewer } from "../../reports/access/viewer.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readNames } from "../../reports/search/names.ts";
import { readScenario } from "../../scenarios/read.ts";
import { createTestDatabase } from "../support/database.ts";
import { playScenario } from "../support/play-ledger.ts";
import { createPagesDatabase, NOON, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";

interface Found {
  readonly total: number;
  readonly items: readonly {
    readonly kind: string;
    readonly name: string;
    readonly beside: string;
    readonly to: string;
  }[];
}

describe("a search", () => {
  let store: StoreClient;
  let server: ReportsServer;

  beforeAll(async () => {
    store = await createPagesDatabase("search");
    server = await createReportsServer(store, NOON, PRICES_CONFIG);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  async function search(q: string, as: Viewer = FINANCE, limit = 100): Promise<Found> {
    const answer = await server.get(
      `/api/v1/search?${new URLSearchParams({ q, limit: String(limit) }).toString()}`,
      as,
    );
    expect(answer.statusCode).toBe(200);
    return answer.json();
  }

  it("finds teams, namespaces, workloads, pods, nodes and GPUs, the best matches first", async () => {
    const { items } = await search("VISION");
    expect(items.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "team vision",
      "namespace vision",
      "workload vision-0",
      "pod vision-0",
    ]);
    const nodes = await search("gpu-a");
    expect(nodes.items.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "node gpu-a",
      "GPU gpu-a 0",
      "GPU gpu-a 1",
      "GPU gpu-a 2",
      "GPU gpu-a 3",
    ]);
    const [uuid] = nodes.items.filter(({ kind }) => kind === "GPU").map(({ beside }) => beside);
    expect((await search(uuid!)).items.map(({ name }) => name)).toEqual(["gpu-a 0"]);
    expect(await search("gpu", FINANCE, 2)).toMatchObject({ total: 5, items: [{ kind: "node" }, { name: "gpu-a 0" }] });
    expect((await search("  ")).items).toEqual([]);
  });

  it("leads to pages that exist", async () => {
    for (const { to } of (await search("a")).items) expect([to, (await server.get(to)).statusCode]).toEqual([to, 200]);
  });

  it("finds only what a viewer may see", async () => {
    expect((await search("nlp", VISION)).items).toEqual([]);
    expect((await search("gpu-a", VISION)).items.map(({ name }) => name)).toEqual(["gpu-a", "gpu-a 0"]);
  });

  it("finds pages, too", async () => {
    const asked = (await search("practices")).items;
    expect(asked).toEqual([{ kind: "page", name: "Practices", beside: "", to: "/practices" }]);
    expect((await search("prices", FINANCE)).items.map(({ to }) => to)).toContain("/prices");
    expect((await search("prices", VISION)).items).toEqual([]);
  });

  it("has a page with names and pages of the navigation", async () => {
    const { body } = await server.get("/search?q=p");
    expect(body).toContain('<a href="/prices">');
    expect(body).toContain('<a href="/practices">');
    expect((await server.get("/search?q=prices", VISION)).body).not.toContain('<td><a href="/prices">');
    expect((await server.get(`/search?q=${encodeURIComponent("<b>")}`)).body).toContain("&lt;b>");
  });
});

it("a workload is beside the team that has most of its time", async () => {
  const file = "test/scenarios/team-changes.yaml";
  const scenario = readScenario(readFileSync(file, "utf8"), file);
  const store = await createTestDatabase("search_teams");
  try {
    await playScenario(store, scenario);
    const names = await readNames(store, { policy: "default", viewer: FINANCE, now: scenario.period.end });
    // nlp had it for an hour, speech for an hour and a half.
    expect(names.filter(({ kind }) => kind === "workload").map(({ beside }) => beside)).toEqual(["shared-lab, speech"]);
  } finally {
    await store.close();
  }
});
