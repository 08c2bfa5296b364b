import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startPrometheusOn } from "../test/support/prometheus-server.ts";
import { defineBench, report, withKit, type Kit } from "./frame.ts";
import { cpuSeconds } from "./measure.ts";
import { valuesOfPage } from "./page.ts";
import { follow, startExporters, startUp, type Up } from "./parts.ts";

const GPUS = 8;

/**
 * From scrape to stored row on embedded parts: targets of 8 GPUs and 25 values, at several intervals; CPU seconds of collector, processor and
 * store, per million values stored. Debian's Prometheus scrapes the same targets at the same time, and the exporters' own CPU time is
 * shown separately. `seconds` has the measured time of each interval.
 */
export const pipeline = defineBench({
  name: "pipeline",
  about: "CPU of a value from scrape to stored row, beside Prometheus on the same targets",
  // The warm-up is long enough for the first parse of every page, and for the compilation of hot code.
  options: { targets: 1_000, intervals: [15, 1, 5, 30], seconds: [300, 120, 120, 120], warm: 120 },
  async run({ targets, intervals, seconds, warm }) {
    for (const [index, interval] of intervals.entries())
      await withKit((kit) => measure(kit, { targets, interval, warm, seconds: seconds[index]! }));
  },
});

async function measure(
  kit: Kit,
  given: { readonly targets: number; readonly interval: number; readonly warm: number; readonly seconds: number },
): Promise<void> {
  const { targets, interval, warm, seconds } = given;
  const exporters = await startExporters(kit, targets, GPUS);
  const prometheus = await startPrometheus(kit, exporters.discovery, interval);
  const up = await startUpOn(kit, exporters.discovery, interval);
  const beside = { exporters: exporters.processId, Prometheus: prometheus.processId };
  await pause(warm * 1000);
  const ids = { ...up.processes, ...beside };
  const look = () => ({
    rows: rowsOf(up),
    cpu: new Map(Object.entries(ids).map(([part, id]) => [part, cpuSeconds(id)])),
  });
  const before = look();
  await pause(seconds * 1000);
  const after = look();
  // A scrape has its own row beside those of its GPUs.
  const millions = ((after.rows - before.rows) * valuesOfPage(GPUS)) / (GPUS + 1) / 1e6;
  const used = (part: string): number => (after.cpu.get(part)! - before.cpu.get(part)!) / millions;
  const all = Object.keys(up.processes).reduce((sum, part) => sum + used(part), 0);
  report(`${targets} targets every ${interval} s: values stored`, millions, "million");
  report("  CPU-s per million values", all, "", interval === 15 ? { atMost: 3.5 } : {});
  for (const part of Object.keys(up.processes)) report(`    ${part}`, used(part));
  for (const part of Object.keys(beside)) report(`  beside it: ${part}`, used(part));
  report("  ratio to Prometheus", all / used("Prometheus"));
}

/** 12,500 targets of 8 GPUs every 30 s for 5 minutes, with the exporters on the same machine. */
export const fleet = defineBench({
  name: "fleet",
  about: "100,000 GPUs scraped every 30 s: rows stored, freshness, memory",
  options: { targets: 12_500, warm: 75, seconds: 300 },
  async run({ targets, warm, seconds }, kit) {
    const exporters = await startExporters(kit, targets, GPUS);
    const up = await startUpOn(kit, exporters.discovery, 30);
    await pause(warm * 1000);
    const before = rowsOf(up);
    const { freshness, megabytes } = await follow(up, seconds, ["collector"]);
    const { processor, collector } = up.system.status();
    const due = (targets * (GPUS + 1) * seconds) / 30;
    report("rows stored of those due", (rowsOf(up) - before) / due, "", { atLeast: 0.99 });
    report("freshness p99 (worst look)", freshness, "s", { atMost: 10 });
    report("collector's memory at its highest", megabytes, "MB", { atMost: 512 });
    report(`targets up, of ${collector?.targets.total}`, collector?.targets.up ?? 0);
    report("lag", processor?.lagMessages ?? 0, "messages");
  },
});

const rowsOf = ({ system }: Up): number => system.status().processor?.rowsStored ?? 0;

const timesOf = (interval: number): readonly string[] => [`${interval}s`, `${Math.min(10, interval)}s`];

function startUpOn(kit: Kit, discovery: string, seconds: number): Promise<Up> {
  const [interval, timeout] = timesOf(seconds);
  return startUp(kit, { collector: { interval, timeout, jobs: [{ name: "bench", http: [{ url: discovery }] }] } });
}

/** Prometheus on the same targets, with its storage. */
async function startPrometheus(kit: Kit, discovery: string, seconds: number): ReturnType<typeof startPrometheusOn> {
  const folder = kit.folder();
  const [scrape_interval, scrape_timeout] = timesOf(seconds);
  const config = {
    global: { scrape_interval, scrape_timeout },
    scrape_configs: [{ job_name: "bench", honor_labels: true, http_sd_configs: [{ url: discovery }] }],
  };
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
  const server = await startPrometheusOn(join(folder, "prometheus.yml"), join(folder, "data"));
  kit.atEnd(() => server.stop());
  return server;
}
