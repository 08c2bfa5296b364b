import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { objectsAt } from "../../demo/kubernetes/cluster/objects.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { startExporterServers, type ExporterServers } from "../../demo/servers.ts";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";

/** No exporter of the fleet is away at this time. */
const NOON = Date.UTC(2026, 6, 8, 12);

interface Spend {
  readonly gpus: string;
  readonly costPerHour: string;
  readonly costPerMonth: string;
}

interface Printed {
  readonly total: Spend & { readonly unpricedGpus: string };
  readonly fleet: readonly { readonly model: string; readonly gpus: number }[];
  readonly teams: readonly (Spend & { readonly team: string; readonly state: string })[];
  readonly workloads: readonly (Spend & { readonly workload: string; readonly activity: number | null })[];
  readonly wastes: readonly (Spend & { readonly state: string; readonly of: string })[];
  readonly practices: readonly { readonly check: string }[];
  readonly unseen: readonly { readonly what: string; readonly why: string }[];
}

describe("gpu-ledger snapshot", () => {
  const fleet = createFleet({ seed: 1, gpus: 96 });
  let folder: CommandFolder;
  let server: ApiServer;
  let exporters: ExporterServers;
  let kubeconfig: string;
  let seen: Printed;

  beforeAll(async () => {
    folder = createCommandFolder();
    let passed = 0;
    exporters = await startExporterServers(fleet, () => NOON + 4_000 * passed++);
    server = await startApiServer({ now: () => NOON });
    for (const object of objectsAt(fleet, NOON, { exporters: exporters.targets })) server.put(object);
    kubeconfig = folder.write("kubeconfig.json", {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "demo", cluster: { server: server.url, "insecure-skip-tls-verify": true } }],
      users: [{ name: "demo", user: {} }],
      contexts: [{ name: "demo", context: { cluster: "demo", user: "demo" } }],
      "current-context": "demo",
    });
    seen = await json();
  });
  afterAll(async () => {
    await server.stop();
    await exporters.stop();
    await folder.dispose();
  });

  const call = (...args: readonly string[]) => folder.call(["snapshot", "--kubeconfig", kubeconfig, ...args]);
  async function json(...args: readonly string[]): Promise<Printed> {
    const { code, stdout, stderr } = await call("--format", "json", ...args);
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout) as Printed;
  }
  const total = (spends: readonly Spend[], of: keyof Spend): string =>
    formatAmount(sum(spends.map((spend) => amountOf(spend[of]))));

  it("has every physical GPU, and a cost whose parts by team and state are the whole", () => {
    expect(seen.fleet.reduce((count, { gpus }) => count + gpus, 0)).toBe(96);
    // Costs beside the GPUs have no GPU-hours.
    expect(Number(seen.total.gpus)).toBe(96);
    expect(total(seen.teams, "gpus")).toBe(seen.total.gpus);
    expect(total(seen.teams, "costPerHour")).toBe(seen.total.costPerHour);
    expect(Number(seen.total.costPerHour)).toBeGreaterThan(100);
    expect(total(seen.teams, "costPerMonth")).toBe(seen.total.costPerMonth);
  });

  it("has the workloads with their measured activity", () => {
    const busy = seen.workloads.find(({ workload }) => workload.startsWith("domain-pretrain"));
    expect(Number(busy!.gpus)).toBe(4);
    expect(busy!.activity).toBeGreaterThan(0.6);
    const idle = seen.workloads.find(({ workload }) => workload.startsWith("jupyter-gus"));
    expect(idle!.activity).toBe(0);
  });

  it("has the five largest wastes, and the practices that are not followed", () => {
    expect(seen.wastes).toHaveLength(5);
    const costs = seen.wastes.map(({ costPerHour }) => Number(costPerHour));
    expect(costs).toEqual(costs.toSorted((one, other) => other - one));
    expect(seen.practices.map(({ check }) => check)).toContain("namespace-without-quota");
    // One moment does not show the past.
    expect(seen.practices.map(({ check }) => check)).not.toContain("pool-unused");
    expect(seen.practices.map(({ check }) => check)).not.toContain("node-without-exporter");
  });

  it("prints the same as text, with the prices named as list prices", async () => {
    const { code, stdout } = await call();
    expect(code).toBe(0);
    expect(stdout).toContain("96 physical GPUs");
    expect(stdout).toContain("Prices: public list prices on demand");
    expect(stdout).toContain("They are not yours");
    for (const { of } of seen.wastes) expect(stdout).toContain(of);
  });

  it("writes one HTML file that loads nothing", async () => {
    const file = join(folder.path, "snapshot.html");
    expect((await call("--html", file)).code).toBe(0);
    const html = readFileSync(file, "utf8");
    expect(html).toContain("The largest wastes now");
    expect(html).not.toMatch(/<(script|link|img|iframe)\b/);
    expect(html).not.toMatch(/url\((?!['"]?data:)/);
  });

  it("has the prices of a file, and names GPUs without one", async () => {
    const prices = folder.write("prices.yaml", {
      currency: "EUR",
      prices: [{ match: { model: "NVIDIA-H100*" }, from: "2026-01-01", per: "gpu-hour", effective: "2.50" }],
    });
    const priced = await json("--prices", prices);
    // 36 H100 × 2.50.
    expect(priced.total.costPerHour).toBe("90");
    expect(priced.total.unpricedGpus).toBe("60");
    expect(priced.unseen.map(({ what }) => what)).toContainEqual(expect.stringMatching(/^the price of \d+ kinds/));
  });

  it("works with fewer permissions, and has what is missing", async () => {
    const refused = [
      ["", "resourcequotas", "list"],
      ["", "namespaces", "list"],
      ["", "pods/proxy", "get"],
    ] as const;
    for (const [group, resource, verb] of refused) server.access.withdraw(group, resource, verb);
    try {
      const fewer = await json();
      expect(fewer.unseen.map(({ what }) => what)).toEqual(expect.arrayContaining(["resourcequotas", "namespaces"]));
      expect(fewer.total.gpus).toBe("96");
    } finally {
      server.access.restore();
    }
  });

  it("reads files of objects and pages instead of a cluster", async () => {
    const objects = folder.write("objects.json", {
      apiVersion: "v1",
      kind: "List",
      items: objectsAt(fleet, NOON, { exporters: exporters.targets }),
    });
    const { code, stdout } = await folder.call(["snapshot", "--objects", objects, "--format", "json"]);
    expect(code).toBe(0);
    const ofFiles = JSON.parse(stdout) as Printed;
    expect(ofFiles.total.costPerHour).toBe(seen.total.costPerHour);
    // Without pages nobody knows what the holders do.
    const states = new Set(ofFiles.teams.map(({ state }) => state));
    expect(states).toContain("unobserved");
    expect(states).not.toContain("active");
    expect(states).not.toContain("idle");
  });

  it.each([
    [["--objects", "/none.yaml"], "--objects /none.yaml: the file cannot be read"],
    [["--pages", "/none"], "--pages: needs --objects"],
    [["--kubeconfig", "/none"], "/none is not a kubeconfig: there is no such file"],
    [["--prices", "/none"], "/none cannot be read"],
  ])("fails with one clear error for %j", async (args, error) => {
    const { code, stderr } = await folder.call(["snapshot", ...args]);
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(error);
  });
});
