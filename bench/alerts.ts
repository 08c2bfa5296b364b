import { execFile, fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { ruleGroups } from "../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../alerts/options.ts";
import { ruleFile } from "../alerts/render/rule-file.ts";
import { cpuSeconds } from "./process.ts";
import { report } from "./report.ts";

const run = promisify(execFile);
const NODES = 1_250;
const GPUS_OF_NODE = 8;
const STEP_SECONDS = 30;
const HOUR_SECONDS = 3_600;
/** Hours before now, and seconds from one sample to the next. */
const SIX_HOURS = [6, STEP_SECONDS] as const;
const DAY = [24, STEP_SECONDS] as const;
const DAY_BY_MINUTES = [24, 60] as const;
const DAY_BY_TWO_MINUTES = [24, 120] as const;
const PORT = 19_090;
const LOOKS = 9;
/** After this time every group has been evaluated several times, and the groups of 4 minutes at least once. */
const SETTLE_MILLIS = 390_000;
/** How long Prometheus is observed with its rules, and without. */
const WATCH_MILLIS = (LOOKS - 1) * STEP_SECONDS * 1000;

/** A GPU of the pages. */
interface PageGpu {
  readonly node: string;
  readonly uuid: string;
}

/**
 * The cost for a real Prometheus of evaluating all rules for 10,000 GPUs, each with its own pod, that are
 * scraped every 30 s with every counter that rules read, and with the series of Kubernetes and a processor about nodes and pods: the
 * last evaluations of each group, and all groups as a part of one core; and the difference in CPU to a run without rules, which includes
 * their garbage collection. The data of the rules' windows exists before the start.
 */
export async function benchAlerts(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-alerts-"));
  const program = new URL("./exporters.js", import.meta.url);
  const exporters = fork(program, [String(NODES), String(GPUS_OF_NODE), "rules"], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  let prometheus: ChildProcess | undefined;
  try {
    const [line] = (await once(exporters.stdout!, "data")) as [Buffer];
    const addresses = JSON.parse(line.toString()) as Addresses;
    await backfill(folder, await gpusOf(addresses.discovery));
    await writeFile(join(folder, "rules.yaml"), ruleFile(ruleGroups(DEFAULT_ALERT_OPTIONS)));
    await writeFile(join(folder, "prometheus.yaml"), stringify(configuration(addresses)));
    const files = [`--config.file=${join(folder, "prometheus.yaml")}`, `--storage.tsdb.path=${join(folder, "data")}`];
    // Groups are evaluated in parallel. On one core each would wait for the others, and their times would be too long.
    const flags = [...files, `--web.listen-address=127.0.0.1:${PORT}`, "--web.enable-lifecycle"];
    prometheus = spawn("prometheus", flags, { stdio: "ignore" });
    await sleep(SETTLE_MILLIS);
    const before = cpuSeconds(prometheus.pid!);
    await tellCosts();
    const withRules = cpuSeconds(prometheus.pid!) - before;
    await writeFile(join(folder, "rules.yaml"), ruleFile([]));
    await fetch(`http://127.0.0.1:${PORT}/-/reload`, { method: "POST" });
    await sleep(STEP_SECONDS * 1000);
    const without = await cpuOver(prometheus.pid!, WATCH_MILLIS);
    report("Prometheus' CPU for rules, of one core", [((withRules - without) / WATCH_MILLIS) * 100_000], "%", {});
    report("Prometheus' CPU for scrapes, of one core", [(without / WATCH_MILLIS) * 100_000], "%", {});
  } finally {
    exporters.kill();
    prometheus?.kill();
    if (prometheus !== undefined) await once(prometheus, "exit");
    await rm(folder, { recursive: true });
  }
}

async function cpuOver(processId: number, millis: number): Promise<number> {
  const before = cpuSeconds(processId);
  await sleep(millis);
  return cpuSeconds(processId) - before;
}

/** The addresses of the test doubles. */
interface Addresses {
  readonly discovery: string;
  readonly state: string;
}

function configuration({ discovery, state }: Addresses): object {
  return {
    global: { scrape_interval: `${STEP_SECONDS}s`, evaluation_interval: `${STEP_SECONDS}s` },
    rule_files: ["rules.yaml"],
    scrape_configs: [
      {
        job_name: "dcgm-exporter",
        http_sd_configs: [{ url: discovery }],
        relabel_configs: [{ source_labels: ["node"], target_label: "instance" }],
      },
      { job_name: "kube-state-metrics", metrics_path: "/state", static_configs: [{ targets: [state] }] },
    ],
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
    for (const [, uuid] of page.matchAll(/^DCGM_FI_DEV_GPU_UTIL\{.*UUID="([^"]+)"/gm)) {
      found.push({ node: labels.node, uuid: uuid! });
    }
  }
  return found;
}

/** Writes blocks with the history that rules read, of a fleet in which every GPU is held and half busy. */
async function backfill(folder: string, gpus: readonly PageGpu[]): Promise<void> {
  const now = Math.floor(Date.now() / 1000 / STEP_SECONDS) * STEP_SECONDS;
  const path = join(folder, "past.om");
  const out = createWriteStream(path);
  const series = async (
    name: string,
    labels: readonly string[],
    [hours, step]: readonly [hours: number, step: number],
    value: (at: number) => number,
  ): Promise<void> => {
    out.write(`# TYPE ${name} gauge\n`);
    for (const each of labels) {
      const lines: string[] = [];
      const first = Math.ceil((now - hours * HOUR_SECONDS) / step) * step;
      for (let at = first; at < now; at += step) lines.push(`${name}{${each}} ${value(at)} ${at}`);
      if (!out.write(`${lines.join("\n")}\n`)) await once(out, "drain");
    }
  };
  const nodes = [...new Set(gpus.map(({ node }) => `node="${node}"`))];
  const devices = gpus.map(({ node, uuid }) => `node="${node}",UUID="${uuid}"`);
  const half = (at: number): number => 0.5 + ((at / STEP_SECONDS) % 10) / 100;
  await series("node:gpu_devices:count", nodes, DAY, () => GPUS_OF_NODE);
  await series("node:gpus_held:count", nodes, DAY_BY_MINUTES, () => GPUS_OF_NODE);
  await series("gpu:device_activity:ratio", devices, SIX_HOURS, half);
  await series("gpu:device_activity:avg1h", devices, DAY_BY_TWO_MINUTES, half);
  await series("gpu:temperature_margin:celsius", devices, DAY_BY_MINUTES, () => 33);
  out.end("# EOF\n");
  await once(out, "close");
  await run("promtool", ["tsdb", "create-blocks-from", "openmetrics", path, join(folder, "data")], {
    maxBuffer: 2 ** 28,
  });
  await rm(path);
}

/** Returns the cost of the rules, by Prometheus' own metrics over several evaluations. */
async function tellCosts(): Promise<void> {
  const looks: (readonly RuleGroup[])[] = [];
  for (let look = 0; look < LOOKS; look++) {
    if (look > 0) await sleep(STEP_SECONDS * 1000);
    looks.push(await groupsNow());
  }
  const last = looks.at(-1)!;
  const rules = last.flatMap((group) => group.rules);
  for (const { name, lastError } of rules.filter(({ health }) => health !== "ok")) {
    process.stdout.write(`  ${name} failed: ${lastError ?? ""}\n`);
  }
  const millis = (name: string): number[] =>
    looks.flatMap((groups) => groups.filter((each) => each.name === name).map((each) => each.evaluationTime * 1000));
  for (const { name, interval } of last) report(`${name}, every ${interval} s`, millis(name), "ms", {});
  for (const { name, evaluationTime } of rules.toSorted((a, b) => b.evaluationTime - a.evaluationTime).slice(0, 10)) {
    report(`rule ${name}`, [evaluationTime * 1000], "ms", {});
  }
  const shares = looks.map((groups) =>
    groups.reduce((sum, { interval, evaluationTime }) => sum + (evaluationTime / interval) * 100, 0),
  );
  report("all groups, of one core", shares, "%", { atMost: 10 });
}

interface RuleGroup {
  readonly name: string;
  /** Seconds, like the time. */
  readonly interval: number;
  readonly evaluationTime: number;
  readonly rules: readonly {
    readonly name: string;
    readonly evaluationTime: number;
    readonly health: string;
    readonly lastError?: string;
  }[];
}

async function groupsNow(): Promise<readonly RuleGroup[]> {
  const answer = await fetch(`http://127.0.0.1:${PORT}/api/v1/rules`);
  return ((await answer.json()) as { data: { groups: RuleGroup[] } }).data.groups;
}
