import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { z } from "zod";
import type { fleetSchema } from "../../reports/api/live-schemas.ts";
import type { SystemStatus } from "../../services/system.ts";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { busStateAt, isExporterAway } from "../../demo/fleet/troubles.ts";
import type { Report } from "../../reports/report/report.ts";
import { createCommandFolder, type CommandFolder, type RunningCommand } from "../support/command.ts";
import { freePort } from "../support/ports.ts";

const LONG = { timeout: 90_000, interval: 500 };

let folder: CommandFolder;
let up: RunningCommand;
let address: string;
let config: string;

const read = async <Value>(path: string): Promise<Value> => (await (await fetch(`${address}${path}`)).json()) as Value;

/**
 * The number of GPUs that the fleet shows at a time: an exporter is away for ten minutes of each hour, a GPU is off the bus for some hours of a day.
 */
function shownAt(timeMillis: number): number {
  const shown = createFleet({ seed: 1, gpus: 96, cluster: "default" })
    .nodes.filter((node) => !isExporterAway(node, timeMillis))
    .flatMap((node) => node.gpus.filter((_, index) => busStateAt(node, index, timeMillis) !== "gone"));
  return shown.length;
}

/** Every GPU, once all targets have been scraped, their rows stored, and pods listed. */
type Fleet = z.output<typeof fleetSchema>;
let gpus: Fleet["gpus"];
beforeAll(async () => {
  folder = createCommandFolder();
  config = folder.write("gpu-ledger.yaml", {
    data: "data",
    server: { listen: `127.0.0.1:${await freePort()}` },
    collector: { interval: "3s", timeout: "2s" },
    processor: { flushEvery: "1s" },
    demo: { history: "0s", seed: 1 },
  });
  up = folder.start(["up", "--config", config], { ownGroup: true });
  address = await up.address();
  await vi.waitFor(async () => {
    const { gpus: seen } = await read<Fleet>("/api/v1/fleet");
    const places = new Set(seen.map(({ node, gpu }) => `${node}/${gpu}`));
    const shown = shownAt(Date.now());
    if (places.size < shown) throw new Error(`only ${places.size} of ${shown} GPUs are known yet`);
    if (seen.every(({ holder }) => holder?.evidence !== "node")) throw new Error("no pod without a label is known yet");
    if (seen.some(({ holder }) => holder !== null && holder.workload === null))
      throw new Error("the facts of a holder are not stored yet");
    gpus = seen;
  }, LONG);
});
afterAll(() => folder.dispose());

describe("the demo shows for every GPU", () => {
  it("the holder, its start, its evidence and its owner, also for free GPUs", () => {
    const held = gpus.filter(({ holder }) => holder !== null);
    expect(held.length).toBeGreaterThan(30);
    expect(gpus.length - held.length).toBeGreaterThan(5);
    const now = Date.now();
    for (const { node, gpu, holder } of held) {
      expect(holder!.workload, `${node}/${gpu} ${holder!.name}`).not.toBeNull();
      expect(Date.parse(holder!.workload!.since)).toBeLessThanOrEqual(now);
      expect(holder!.workload!.team).not.toBe("unowned");
    }
    // One of its exporters names no pods: its node's GPUs are held in common.
    const evidence = new Set(held.map(({ holder }) => holder!.evidence));
    expect([...evidence].toSorted()).toEqual(["label", "node"]);
  });

  it("its regime: whole, an instance of MIG, a replica in time-slicing", () => {
    const regimes = new Set(gpus.map(({ regime }) => regime));
    expect([...regimes].toSorted()).toEqual(["mig", "time-slicing", "whole"]);
  });

  it("the same on the page of GPUs", async () => {
    const page = await (await fetch(`${address}/fleet`)).text();
    expect(page).toContain("Demo:");
    const [some] = gpus.filter(({ holder }) => holder?.workload?.kind === "Deployment");
    expect(page).toContain(some!.holder!.name);
  });
});

it("the inference engines and the gateway of its cluster are scraped, and their rows are stored", async () => {
  const valueOf = async (series: string): Promise<number> => {
    const metrics = await (await fetch(`${address}/metrics`)).text();
    return Number(
      metrics
        .split("\n")
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    );
  };
  // The gateway has at least two models for each of its three tenants.
  await expect.poll(() => valueOf('gpu_ledger_serving_rows{scrape_job="demo-engines"}'), LONG).toBeGreaterThan(8);
  // Scrapes of the running second always wait for the next insert.
  const targets = await valueOf('gpu_ledger_targets{scrape_job="demo-engines"}');
  const sent = (): Promise<number> => valueOf('gpu_ledger_scrapes_total{scrape_job="demo-engines",outcome="ok"}');
  await expect.poll(sent, LONG).toBeGreaterThan(4 * targets);
  await expect.poll(() => valueOf("gpu_ledger_serving_lag_messages"), LONG).toBeLessThan(2 * targets);
});

it("commands beside it use the demo's prices and policies", async () => {
  const { stdout } = await folder.run(["report", "today", "--format", "json", "--config", config]);
  const { reports } = JSON.parse(stdout) as { reports: [Report] };
  expect(reports[0]).toMatchObject({ policy: "showback", currency: "USD" });
});

it("its cluster is watched, and waiting pods are in the status and on /metrics", async () => {
  const queued = async (): Promise<number> =>
    (await read<SystemStatus>("/api/status")).processor?.queue?.pending.length ?? 0;
  await expect.poll(queued, LONG).toBeGreaterThan(0);
  const { collector, processor, demo } = await read<SystemStatus>("/api/status");
  expect(demo?.gpus).toBe(96);
  expect(collector?.kubernetes).toMatchObject([{ cluster: "default", watching: true, missing: [] }]);
  expect(collector?.kubernetes[0]?.objects["nodes"]).toBeGreaterThan(10);
  expect(processor?.queue?.quotas.length).toBeGreaterThan(0);
  const metrics = await (await fetch(`${address}/metrics`)).text();
  expect(metrics).toMatch(/^gpu_ledger_pending_pods\{cluster="default",team="\w+",.*reason="Unschedulable"\} \d+$/m);
  expect(metrics).toMatch(/^gpu_ledger_quota_devices\{.*state="used"\} \d+$/m);
  expect(metrics).toMatch(/^gpu_ledger_kubernetes_watching\{cluster="default"\} 1$/m);
});

it("an API server that comes back at another port, with other versions, is found and listed again", async () => {
  const lists = async (): Promise<number> => {
    const metrics = await (await fetch(`${address}/metrics`)).text();
    return Number(/^gpu_ledger_kubernetes_lists_total\{.*resource="pods"\} (\d+)$/m.exec(metrics)?.[1]);
  };
  const before = await lists();
  const { processes } = await read<SystemStatus>("/api/status");
  process.kill(processes["demo"]!.id!, "SIGKILL");
  await expect.poll(lists, LONG).toBe(before + 1);
  await expect
    .poll(async () => (await read<SystemStatus>("/api/status")).collector?.kubernetes[0], LONG)
    .toMatchObject({ watching: true });
});

it("the demo command serves its fleet and its cluster on the given address, and ends on request", async () => {
  const place = "127.0.0.2";
  const alone = folder.write("demo.yaml", {
    data: "demo-data",
    server: { listen: "127.0.0.1:0" },
    demo: { gpus: 8, history: "0s", listen: place },
  });
  const demo = folder.start(["demo", "--config", alone]);
  const own = await demo.address();
  const [target] = (await (await fetch(`${own}/api/demo/targets`)).json()) as readonly { readonly targets: string[] }[];
  expect(target!.targets[0]).toMatch(new RegExp(`^${place}:`));
  expect(await (await fetch(`http://${target!.targets[0]!}/metrics`)).text()).toContain("DCGM_FI_DEV_GPU_TEMP");
  const state = await (await fetch(`${own}/api/demo/kube-state-metrics`)).text();
  expect(state).toMatch(/^kube_node_status_capacity\{node="gpu-[^}]*resource="nvidia_com_gpu"[^}]*\} \d+$/m);
  const kubeconfig = JSON.parse(readFileSync(join(folder.path, "demo-data/demo-kubeconfig.json"), "utf8")) as {
    readonly clusters: readonly { readonly cluster: { readonly server: string } }[];
  };
  const { server } = kubeconfig.clusters[0]!.cluster;
  expect(server).toMatch(new RegExp(`^http://${place}:`));
  const { items } = (await (await fetch(`${server}/api/v1/nodes`)).json()) as { readonly items: readonly unknown[] };
  expect(items.length).toBeGreaterThan(0);
  expect((await demo.end("SIGTERM")).code).toBe(0);
});
