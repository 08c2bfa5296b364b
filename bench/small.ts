import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { demoLedger } from "../demo/fleet/prices.ts";
import { connectStore } from "../runtime/store/connection.ts";
import { defineBench, report, withKit, type Kit } from "./frame.ts";
import { cpuSeconds } from "./measure.ts";
import { commandFolder, follow, startUp } from "./parts.ts";
import { sizesOf } from "./store.ts";

/** The scrapes in the store, and the missing numbers in their sequences. */
const SCRAPES = `SELECT toFloat64(sum(got)) AS scrapes, toFloat64(sum(expected - got)) AS lost FROM (
  SELECT max(sequence) + 1 AS expected, uniqExact(sequence) AS got FROM scrapes GROUP BY target, collector, epoch)`;

/**
 * The small form of the Helm chart: `up` on embedded parts, in front of a cluster that it discovers, watches, meters and charges. The
 * demo's exporters and API server are that cluster, in a separate process on the same machine. Their CPU time is shown separately.
 */
export const small = defineBench({
  name: "small",
  about: "up on embedded parts in front of a cluster",
  options: { gpus: [250, 500, 1_000], warm: 90, seconds: 300 },
  async run({ gpus, ...times }) {
    for (const each of gpus) await withKit((kit) => measure(kit, each, times));
  },
});

async function measure(
  kit: Kit,
  gpus: number,
  { warm, seconds }: { readonly warm: number; readonly seconds: number },
): Promise<void> {
  const cluster = await startCluster(kit, gpus);
  const { kubeconfig } = cluster;
  const jobs = [{ name: "exporters", kubernetes: { kubeconfig } }];
  const up = await startUp(kit, { collector: { jobs }, kubernetes: { clusters: [{ kubeconfig }] } }, demoLedger());
  const store = connectStore(up.system.store, up.config);
  kit.atEnd(() => store.close());
  const cpu = (): number => Object.values(up.processes).reduce((sum, id) => sum + cpuSeconds(id), 0);
  await pause(warm * 1000);
  const before = [cpu(), cpuSeconds(cluster.processId)] as const;
  const { freshness, megabytes } = await follow(up, seconds);
  report(`${gpus} GPUs, cores`, (cpu() - before[0]) / seconds, "", { atMost: 1 });
  report("  beside it: cores of the cluster", (cpuSeconds(cluster.processId) - before[1]) / seconds);
  report("  memory at its highest", megabytes, "MB");
  report("  freshness p99 (worst look)", freshness, "s", { atMost: 10 });
  const [stored] = await store.query<{ scrapes: number; lost: number }>(SCRAPES);
  const { scrapes, lost } = stored!;
  const { collector, processor } = up.system.status();
  report(`  scrapes of ${collector?.targets.up} targets stored`, scrapes);
  report("  scrapes lost", lost, "", { atMost: 0 });
  report("  lag", processor?.lagMessages ?? 0, "messages");
  for (const { table, rows, bytes } of await sizesOf(store, ["gpu_samples", "scrapes", "usage_hours", "charges"]))
    report(`  ${table}, ${rows} rows: bytes a row after merges`, bytes / rows);
  const blocks = execFileSync("du", ["--summarize", "--block-size=1", join(up.config.data, "bus")], {
    encoding: "utf8",
  });
  report("  bus: bytes a scrape", Number(blocks.split("\t")[0]) / scrapes);
}

/** `gpu-ledger demo` without a history. */
async function startCluster(
  kit: Kit,
  gpus: number,
): Promise<{ readonly kubeconfig: string; readonly processId: number }> {
  const folder = commandFolder(kit);
  const settings = {
    data: join(folder.path, "data"),
    server: { listen: "127.0.0.1:0" },
    demo: { gpus, history: "0s" },
  };
  const command = folder.start(["demo", "--config", folder.write("demo.json", settings)]);
  for (;;) {
    const kubeconfig = /"kubeconfig":"([^"]+)"/.exec(command.log())?.[1];
    if (kubeconfig !== undefined) return { kubeconfig, processId: command.processId };
    if (command.child.exitCode !== null) throw new Error(`the demo's cluster ended:\n${command.log()}`);
    await pause(100);
  }
}
