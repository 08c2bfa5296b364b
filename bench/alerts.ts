import { execFile, fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { ruleGroups } from "../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../alerts/options.ts";
import { ruleFile } from "../alerts/render/rule-file.ts";
import { report } from "./report.ts";

const run = promisify(execFile);
const NODES = 1_250;
const GPUS_OF_NODE = 8;
const STEP_SECONDS = 30;
const HOUR_SECONDS = 3_600;
const PORT = 19_090;
/** Every group has been evaluated several times by then, those of five minutes once. */
const SETTLE_MILLIS = 390_000;

/** A GPU as its exporter's page names it. */
interface PageGpu {
  readonly node: string;
  readonly instance: string;
  readonly gpu: string;
  readonly uuid: string;
}

/**
 * What it costs a real Prometheus on one core to evaluate all rules for 10,000 GPUs that are scraped every 30 s: by group, its
 * last evaluation, and all groups as a part of one core. Six hours of what windows look back on are there before it starts,
 * and a day of what is looked at by the hour.
 */
export async function benchAlerts(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-alerts-"));
  const exporters = fork(new URL("./exporters.js", import.meta.url), [String(NODES), String(GPUS_OF_NODE)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  let prometheus: ChildProcess | undefined;
  try {
    const [line] = (await once(exporters.stdout!, "data")) as [Buffer];
    const { discovery } = JSON.parse(line.toString()) as { discovery: string };
    const gpus = await gpusOf(discovery);
    await backfill(folder, gpus);
    await writeFile(join(folder, "rules.yaml"), ruleFile(ruleGroups(DEFAULT_ALERT_OPTIONS)));
    await writeFile(join(folder, "prometheus.yaml"), stringify(configuration(discovery)));
    prometheus = spawn(
      "taskset",
      [
        "-c",
        "1",
        "prometheus",
        `--config.file=${join(folder, "prometheus.yaml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        `--web.listen-address=127.0.0.1:${PORT}`,
      ],
      { stdio: "ignore" },
    );
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MILLIS));
    await tellCosts();
  } finally {
    exporters.kill();
    prometheus?.kill();
    if (prometheus !== undefined) await once(prometheus, "exit");
    await rm(folder, { recursive: true });
  }
}

function configuration(discovery: string): object {
  return {
    global: { scrape_interval: `${STEP_SECONDS}s`, evaluation_interval: `${STEP_SECONDS}s` },
    rule_files: ["rules.yaml"],
    scrape_configs: [{ job_name: "dcgm-exporter", http_sd_configs: [{ url: discovery }] }],
  };
}

async function gpusOf(discovery: string): Promise<readonly PageGpu[]> {
  const groups = (await (await fetch(discovery)).json()) as {
    targets: [string];
    labels: { __metrics_path__: string; node: string };
  }[];
  const found: PageGpu[] = [];
  for (const { targets, labels } of groups) {
    const page = await (await fetch(`http://${targets[0]}${labels.__metrics_path__}`)).text();
    for (const [, gpu, uuid] of page.matchAll(/^DCGM_FI_DEV_GPU_UTIL\{gpu="(\d+)",UUID="([^"]+)"/gm)) {
      found.push({ node: labels.node, instance: targets[0], gpu: gpu!, uuid: uuid! });
    }
  }
  return found;
}

/** Writes blocks of what rules look back on, of a fleet that every GPU of is held and half busy. */
async function backfill(folder: string, gpus: readonly PageGpu[]): Promise<void> {
  const now = Math.floor(Date.now() / 1000 / HOUR_SECONDS) * HOUR_SECONDS;
  const path = join(folder, "past.om");
  const out = createWriteStream(path);
  const write = async (text: string): Promise<void> => {
    if (!out.write(text)) await once(out, "drain");
  };
  const series = async (
    name: string,
    labels: (gpu: PageGpu, index: number) => string,
    hours: number,
    step: number,
  ): Promise<void> => {
    await write(`# TYPE ${name} gauge\n`);
    for (const [index, gpu] of gpus.entries()) {
      const lines: string[] = [];
      const of = `${name}{${labels(gpu, index)}}`;
      for (let at = now - hours * HOUR_SECONDS; at < now; at += step) lines.push(`${of} 0.5${(at / step) % 10} ${at}`);
      await write(`${lines.join("\n")}\n`);
    }
  };
  const device = ({ node, uuid }: PageGpu): string => `node="${node}",UUID="${uuid}"`;
  await series("gpu:device_activity:ratio", device, 6, STEP_SECONDS);
  await series(
    "gpu:pod_activity:ratio",
    (gpu, index) => `${device(gpu)},namespace="ml",pod="pod-${index}"`,
    6,
    STEP_SECONDS,
  );
  await series("gpu:device_activity:avg1h", device, 24, HOUR_SECONDS);
  await write("# EOF\n");
  out.end();
  await once(out, "close");
  await run("promtool", ["tsdb", "create-blocks-from", "openmetrics", path, join(folder, "data")], {
    maxBuffer: 2 ** 28,
  });
  await rm(path);
}

async function tellCosts(): Promise<void> {
  const { data } = (await (await fetch(`http://127.0.0.1:${PORT}/api/v1/rules`)).json()) as {
    data: {
      groups: {
        name: string;
        interval: number;
        evaluationTime: number;
        rules: { name: string; evaluationTime: number; health: string; lastError?: string }[];
      }[];
    };
  };
  const rules = data.groups.flatMap((group) => group.rules);
  for (const { name, lastError } of rules.filter(({ health }) => health !== "ok")) {
    process.stdout.write(`  ${name} failed: ${lastError ?? ""}\n`);
  }
  for (const { name, interval, evaluationTime } of data.groups) {
    report(`${name}, every ${interval} s`, [evaluationTime * 1000], "ms", {});
  }
  for (const { name, evaluationTime } of rules.toSorted((a, b) => b.evaluationTime - a.evaluationTime).slice(0, 10)) {
    report(`rule ${name}`, [evaluationTime * 1000], "ms", {});
  }
  const share = data.groups.reduce((sum, { interval, evaluationTime }) => sum + evaluationTime / interval, 0);
  report("all groups, of one core", [share * 100], "%", { atMost: 10 });
}
