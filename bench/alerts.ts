import { execFile } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { ruleGroups } from "../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../alerts/options.ts";
import { ruleFile } from "../alerts/render/rule-file.ts";
import { getJson } from "../test/support/command.ts";
import { startPrometheusOn } from "../test/support/prometheus-server.ts";
import { defineBench, report } from "./frame.ts";
import { cpuSeconds } from "./measure.ts";
import { nameOf, uuidOf } from "./page.ts";
import { startExporters, type Exporters } from "./parts.ts";

const run = promisify(execFile);
const GPUS_OF_NODE = 8;
const STEP_SECONDS = 30;
const HOUR_SECONDS = 3_600;
/** The number of rules whose cost is reported one by one. */
const DEAREST = 12;
/** Hours before now, and seconds from one sample to the next. */
const SIX_HOURS = [6, STEP_SECONDS] as const;
const DAY = [24, STEP_SECONDS] as const;
const DAY_BY_MINUTES = [24, 60] as const;
const DAY_BY_TWO_MINUTES = [24, 120] as const;

/**
 * The cost for a real Prometheus of evaluating all rules for a fleet of GPUs, each with its own pod, that are
 * scraped every 30 s with every counter that rules read, and with the series of Kubernetes and a processor about nodes and pods: the
 * last evaluations of each group, and all groups as a part of one core; and the difference in CPU to a run without rules, which includes
 * their garbage collection. The data of the rules' windows exists before the start. After `settle` seconds every group has been evaluated
 * several times, and the groups of 4 minutes at least once.
 */
export const alerts = defineBench({
  name: "alerts",
  about: "every rule evaluated by a real Prometheus",
  options: { gpus: 10_000, settle: 390, looks: 9 },
  async run({ gpus, settle, looks }, kit) {
    const folder = kit.folder();
    const exporters = await startExporters(kit, gpus / GPUS_OF_NODE, GPUS_OF_NODE, "rules");
    await backfill(folder, gpus / GPUS_OF_NODE);
    const rules = join(folder, "rules.yaml");
    await writeFile(rules, ruleFile(ruleGroups(DEFAULT_ALERT_OPTIONS)));
    await writeFile(join(folder, "prometheus.yaml"), stringify(configuration(exporters)));
    // Groups are evaluated in parallel. On one core each would wait for the others, and their times would be too long.
    const flags = ["--web.enable-lifecycle"];
    const prometheus = await startPrometheusOn(join(folder, "prometheus.yaml"), join(folder, "data"), flags);
    kit.atEnd(() => prometheus.stop());
    const seconds = (looks - 1) * STEP_SECONDS;
    await pause(settle * 1000);
    const begun = cpuSeconds(prometheus.processId);
    await reportCosts(prometheus.url, looks);
    const withRules = cpuSeconds(prometheus.processId) - begun;
    await writeFile(rules, ruleFile([]));
    await fetch(`${prometheus.url}/-/reload`, { method: "POST" });
    await pause(STEP_SECONDS * 1000);
    const reloaded = cpuSeconds(prometheus.processId);
    await pause(seconds * 1000);
    const without = cpuSeconds(prometheus.processId) - reloaded;
    report("Prometheus' CPU for rules, of one core", ((withRules - without) / seconds) * 100, "%");
    report("Prometheus' CPU for scrapes, of one core", (without / seconds) * 100, "%");
  },
});

function configuration({ discovery, state }: Exporters): object {
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

/** Writes blocks with the history that rules read, of a fleet in which every GPU is held and half busy. */
async function backfill(folder: string, count: number): Promise<void> {
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
  const names = Array.from({ length: count }, (_, number) => nameOf(number));
  const nodes = names.map((node) => `node="${node}"`);
  const devices = names.flatMap((node) =>
    Array.from({ length: GPUS_OF_NODE }, (_, gpu) => `node="${node}",UUID="${uuidOf(node, gpu)}"`),
  );
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

/** Prints the cost of the rules, by Prometheus' own metrics over several evaluations. */
async function reportCosts(url: string, looks: number): Promise<void> {
  const seen: (readonly RuleGroup[])[] = [];
  for (let look = 0; look < looks; look++) {
    if (look > 0) await pause(STEP_SECONDS * 1000);
    const { data } = await getJson<{ readonly data: { readonly groups: readonly RuleGroup[] } }>(`${url}/api/v1/rules`);
    seen.push(data.groups);
  }
  const last = seen.at(-1)!;
  const rules = last.flatMap((group) => group.rules);
  const broken = rules.filter(({ health }) => health === "err");
  if (broken.length > 0) throw new Error(broken.map(({ name, lastError }) => `${name}: ${lastError}`).join("\n"));
  const millis = (name: string): number[] =>
    seen.flatMap((groups) => groups.filter((each) => each.name === name).map((each) => each.evaluationTime * 1000));
  for (const { name, interval } of last) report(`${name}, every ${interval} s`, millis(name), "ms");
  const dearest = last
    .flatMap(({ interval, rules: own }) =>
      own.map((rule) => ({ ...rule, share: (rule.evaluationTime / interval) * 100 })),
    )
    .toSorted((one, other) => other.share - one.share)
    .slice(0, DEAREST);
  for (const { name, share } of dearest) report(`  ${name}, of one core`, share, "%");
  const shares = seen.map((groups) =>
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
