import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { HOUR_MILLIS, hourOf } from "../domain/time.ts";
import type { SystemStatus } from "../services/system.ts";
import { startWritablePrometheus } from "../test/support/prometheus-server.ts";
import type { WrittenSeries } from "../test/support/prometheus-writer.ts";
import { fillPast } from "./past.ts";
import { podOf, uidOf } from "./page.ts";
import { ended } from "./process.ts";
import { report } from "./report.ts";

const NODES = 125;
const GPUS = 8;
const HOURS = 12;
const HOURS_OF_MONTH = 30 * 24;
const QUIET_MILLIS = 5_000;

/**
 * An import of 1,000 GPUs with their pods into `up` on embedded parts, until its last hour is charged: from a real Prometheus, with all of
 * them on this machine.
 */
export async function benchImportCharged(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-charged-"));
  const server = await startWritablePrometheus();
  const until = hourOf(Date.now()) - HOUR_MILLIS;
  const from = until - HOURS * HOUR_MILLIS;
  const config = join(folder, "gpu-ledger.yaml");
  writeFileSync(
    config,
    JSON.stringify({
      data: join(folder, "data"),
      demo: { enabled: false },
      server: { listen: "127.0.0.1:0" },
      currency: "USD",
      prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.60" }],
    }),
  );
  try {
    await fillPast(server.url, { hours: HOURS, from, beside: (begin, end) => kubeState(from, begin, end) });
    const up = spawn(process.execPath, ["dist/cli/main.js", "up", "--log", "json", "--config", config], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      let log = "";
      up.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
      let address: string | undefined;
      while (address === undefined) {
        await pause(100);
        address = /"address":"([^"]+)"/.exec(log)?.[1];
      }
      await pause(QUIET_MILLIS);
      const begun = performance.now();
      const span = ["--from", new Date(from).toISOString(), "--until", new Date(until).toISOString()];
      const child = spawn(
        process.execPath,
        ["dist/cli/main.js", "import", "prometheus", "--url", server.url, ...span, "--config", config],
        { stdio: "ignore" },
      );
      await ended(child, "gpu-ledger import");
      const imported = (performance.now() - begun) / 1000;
      const charged = (await untilCharged(address)) - begun;
      report(`${HOURS} h of ${NODES * GPUS} GPUs imported`, [imported], "s", {});
      report("  until the last hour is charged", [charged / 1000], "s", {});
      const month = (charged / 1000 / 60) * (HOURS_OF_MONTH / HOURS);
      report(`a month of ${NODES * GPUS} GPUs imported and charged, from ${HOURS} h`, [month], "min", { atMost: 10 });
      const alone = ((charged / 1000 - imported) / 60) * (HOURS_OF_MONTH / HOURS);
      report("  of which after the import", [alone], "min", { atMost: 4 });
    } finally {
      up.kill("SIGINT");
      await new Promise((resolve) => up.once("exit", resolve));
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns when no hour waits any more. An hour that another one reopens waits again within a few seconds. */
async function untilCharged(address: string): Promise<number> {
  let since: number | undefined;
  for (;;) {
    await pause(200);
    const status = (await (await fetch(`${address}/api/status`)).json()) as SystemStatus;
    const isDone = status.processor?.hoursWaiting?.length === 0 && status.processor.lagMessages === 0;
    since = isDone ? (since ?? performance.now()) : undefined;
    if (since !== undefined && performance.now() - since > QUIET_MILLIS) return since;
  }
}

/** Returns the series of kube-state-metrics of the nodes, and of a pod on each GPU, with a sample a minute. */
function kubeState(since: number, from: number, until: number): readonly WrittenSeries[] {
  const times = Array.from({ length: (until - from) / 60_000 }, (_, minute) => from + minute * 60_000);
  const target = { job: "kube-state-metrics", instance: "10.1.0.1:8080" };
  const series = (name: string, labels: Readonly<Record<string, string>>, value = 1): WrittenSeries => ({
    labels: { __name__: name, ...target, ...labels },
    times,
    values: times.map(() => value),
  });
  return Array.from({ length: NODES }, (_, index) => {
    const node = `gpu-node-${String(index).padStart(5, "0")}`;
    const unit = { node, resource: "nvidia_com_gpu", unit: "integer" };
    const pods = Array.from({ length: GPUS }, (__, gpu) => {
      const pod = { namespace: "research", pod: podOf(node, gpu), uid: uidOf(node, gpu) };
      return [
        series("kube_pod_info", { ...pod, node, pod_ip: `10.2.${index}.${gpu}`, host_ip: `10.0.0.${index}` }),
        series("kube_pod_created", pod, since / 1000),
        series("kube_pod_status_scheduled_time", pod, since / 1000),
        series("kube_pod_status_phase", { ...pod, phase: "Running" }),
        series("kube_pod_owner", {
          ...pod,
          owner_kind: "Job",
          owner_name: `train-${index}`,
          owner_is_controller: "true",
        }),
        series("kube_pod_container_resource_limits", { ...pod, ...unit, container: "c" }),
        series("kube_pod_container_status_running", { ...pod, container: "c" }),
      ];
    });
    return [
      series("kube_node_info", { node, internal_ip: `10.0.0.${index}` }),
      series("kube_node_created", { node }, since / 1000),
      series("kube_node_status_capacity", unit, GPUS),
      series("kube_node_status_allocatable", unit, GPUS),
      series("kube_node_status_condition", { node, condition: "Ready", status: "true" }),
      ...pods.flat(),
    ];
  }).flat();
}
