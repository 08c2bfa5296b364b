import { pino } from "pino";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openFiringAlerts } from "../../services/firing-alerts.ts";
import { createPagesDatabase, NOON, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { startPrometheus, type PrometheusServer } from "../support/prometheus-server.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";

const text = (body: string): string => body.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
const rule = (alert: string, labels: Readonly<Record<string, string>>) => ({
  alert,
  expr: "vector(1)",
  labels: { severity: "critical", ...labels },
  annotations: { summary: `the summary of ${alert}`, runbook_url: `https://runbooks.example/${alert}` },
});
const RULES = {
  groups: [
    {
      name: "planted",
      interval: "1s",
      rules: [
        rule("GPUHot", { cluster: "default", node: "gpu-a", gpu: "0" }),
        rule("NodeSilent", { cluster: "default", node: "gpu-b" }),
        rule("PodIdle", { cluster: "default", namespace: "vision", pod: "vision-0", team: "vision" }),
        { ...rule("Later", { node: "gpu-a" }), for: "1h" },
      ],
    },
  ],
};

describe("firing alerts of a Prometheus", () => {
  let store: StoreClient;
  let prometheus: PrometheusServer;
  let server: ReportsServer;
  let stop: () => Promise<void>;
  let now = NOON;

  beforeAll(async () => {
    store = await createPagesDatabase("firing_alerts");
    prometheus = await startPrometheus({
      configuration: { rule_files: ["rules.yaml"] },
      files: { "rules.yaml": stringify(RULES) },
    });
    const config = parseConfig(`server: { prometheus: { url: "${prometheus.url}" } }`, {
      source: "the test",
      folder: ".",
      env: {},
    });
    const alerts = openFiringAlerts(config.server.prometheus, { now: () => now, logger: pino({ level: "silent" }) });
    stop = alerts.stop;
    server = await createReportsServer(store, NOON, PRICES_CONFIG, { readAlerts: alerts.read });
    await vi.waitUntil(async () => (await prometheus.alerts()).length === 4, { timeout: 30_000, interval: 500 });
  }, 120_000);
  afterAll(async () => {
    await server.close();
    await stop();
    await prometheus.stop();
    await store.close();
  });

  const pageOf = async (url: string, as = FINANCE): Promise<string> => {
    now += 10_000;
    server.now += 10_000;
    return text((await server.get(url, as)).body);
  };

  it("are on the page of sick nodes, each with its subject and its runbook, and pending ones are not", async () => {
    const page = await pageOf("/sick");
    expect(page).toContain("3 firing alerts");
    expect(page).toContain("GPUHot critical GPU 0 of gpu-a");
    expect(page).toContain("PodIdle critical vision/vision-0");
    expect(page).not.toContain("Later");
    const { body } = await server.get("/sick");
    expect(body).toContain('<a href="https://runbooks.example/GPUHot">GPUHot</a>');
    expect(body).toContain('<a href="/gpu?cluster=default&amp;node=gpu-a&amp;gpu=0">');
    expect(await pageOf("/fleet")).toContain("Firing alerts 3 now");
  });

  it("are on the page of their GPU, node or pod, and on no other", async () => {
    expect(await pageOf("/gpu?cluster=default&node=gpu-a&gpu=0")).toContain("1 firing alert");
    expect(await pageOf("/node?cluster=default&node=gpu-a")).toContain("the summary of GPUHot");
    expect(await pageOf("/gpu?cluster=default&node=gpu-a&gpu=1")).toContain("No alert fires.");
    expect(await pageOf("/workload?cluster=default&namespace=vision&pod=vision-0")).toContain("PodIdle");
    expect(await pageOf("/node?cluster=default&node=gpu-a&at=2026-03-31T09:00:00Z")).not.toContain("GPUHot");
  });

  it("are those of their teams for a viewer of some teams", async () => {
    const page = await pageOf("/sick", VISION);
    expect(page).toContain("1 firing alert");
    expect(page).toContain("PodIdle");
    expect(page).not.toContain("NodeSilent");
  });

  it("are unknown while Prometheus is away, and the page is there", async () => {
    const away = openFiringAlerts({ url: "http://127.0.0.1:9" }, { now: () => now, logger: pino({ level: "silent" }) });
    const other = await createReportsServer(store, NOON, PRICES_CONFIG, { readAlerts: away.read });
    const page = text((await other.get("/sick")).body);
    await other.close();
    await away.stop();
    expect(page).toContain("Prometheus does not answer: the firing alerts are unknown.");
    expect(page).toContain("Faults of the last day");
  });
});
