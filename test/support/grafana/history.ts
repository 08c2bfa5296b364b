import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ruleGroups } from "../../../alerts/generate.ts";
import type { AlertingRule, RecordingRule } from "../../../alerts/model.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import { ruleFile } from "../../../alerts/render/rule-file.ts";
import type { Fleet } from "../../../demo/fleet/fleet.ts";
import { objectsAt } from "../../../demo/kubernetes/cluster/objects.ts";
import { startPrometheusOn, type PrometheusServer } from "../prometheus-server.ts";
import { readsOf } from "../rules/promql-names.ts";
import { createScrapes } from "../week/pages.ts";
import { createRecorder, type Recorder } from "../week/recorder.ts";
import { stateSamples } from "../../../demo/kubernetes/state-metrics.ts";

const run = promisify(execFile);
const STATE_TARGET = { job: "kube-state-metrics", instance: "kube-state-metrics:8080" };

/** A period of a fleet's history. */
export interface Past {
  readonly fromMillis: number;
  readonly untilMillis: number;
  readonly stepSeconds: number;
}

/**
 * A Prometheus that has scraped the demo's exporters and its cluster's kube-state-metrics for some time, and has recorded by our rules since the
 * start. Each rule is evaluated over the whole time after the rules that it reads. Alerts fire as long as their expression holds.
 */
export async function startHistory(fleet: Fleet, past: Past): Promise<PrometheusServer> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-history-"));
  // A backfilled history has no staleness markers: a series ends at its first missing sample. promtool evaluates at another moment of each step,
  // which depends on the names of group and file.
  const start = (): Promise<PrometheusServer> =>
    startPrometheusOn(configuration!, data!, [`--query.lookback-delta=${past.stepSeconds * 1000 - 1}ms`]);
  const [data, configuration, raw] = ["data", "prometheus.yaml", "raw.om"].map((name) => join(folder, name));
  await writeFile(configuration!, "{}\n");
  await writeOpenMetrics(raw!, recorded(fleet, past), past);
  await run("promtool", ["tsdb", "create-blocks-from", "openmetrics", raw!, data!]);
  for (const [level, rules] of levels(past.stepSeconds).entries()) {
    const file = `level-${level}.yaml`;
    await writeFile(
      join(folder, file),
      ruleFile([{ name: `level-${level}`, intervalMillis: past.stepSeconds * 1000, rules }]),
    );
    const server = await start();
    const times = ["--start", String(past.fromMillis / 1000), "--end", String(past.untilMillis / 1000)];
    const pace = ["--eval-interval", `${past.stepSeconds}s`];
    await run(
      "promtool",
      ["tsdb", "create-blocks-from", "rules", ...times, ...pace, "--url", server.url, "--output-dir", data!, file],
      {
        cwd: folder,
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    await server.stop();
  }
  const server = await start();
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The scraped series. */
function recorded(fleet: Fleet, { fromMillis, untilMillis, stepSeconds }: Past): Recorder {
  const recorder = createRecorder();
  const scrapes = fleet.nodes.map((node) => createScrapes(node, recorder, () => true));
  for (let step = 0, at = fromMillis; at < untilMillis; step += 1, at += stepSeconds * 1000) {
    for (const scrape of scrapes) scrape(step, at);
    for (const [name, labels, value] of stateSamples(objectsAt(fleet, at)))
      recorder.add(recorder.key(name, { ...labels, ...STATE_TARGET }), step, value);
  }
  return recorder;
}

async function writeOpenMetrics(path: string, recorder: Recorder, { fromMillis, stepSeconds }: Past): Promise<void> {
  const out = createWriteStream(path);
  for (const { key, first, values } of recorder.series()) {
    const lines = values.flatMap((value, place) =>
      value === undefined ? [] : `${key} ${value} ${fromMillis / 1000 + (first + place) * stepSeconds}\n`,
    );
    if (!out.write(lines.join(""))) await once(out, "drain");
  }
  out.end("# EOF\n");
  await once(out, "close");
}

/** The rules in levels: each rule reads only rules of earlier levels, and each level has as many rules as possible. */
function levels(stepSeconds: number): readonly (readonly RecordingRule[])[] {
  const groups = ruleGroups({ ...DEFAULT_ALERT_OPTIONS, intervalMillis: stepSeconds * 1000 });
  const rules = groups.flatMap((group): readonly (RecordingRule | AlertingRule)[] => group.rules);
  const recording = rules.flatMap((rule) => ("record" in rule ? [rule] : []));
  const alerting = rules.flatMap((rule) => ("alert" in rule ? [firingOf(rule)] : []));
  const known = new Map<string, number>();
  const levelOf = (name: string): number => {
    const done = known.get(name);
    if (done !== undefined) return done;
    known.set(name, 0);
    const reads = recording.filter(({ record }) => record === name).flatMap(({ expr }) => [...readsOf(expr).series]);
    const level = reads.filter((each) => each !== name && recording.some(({ record }) => record === each));
    known.set(name, 1 + Math.max(-1, ...level.map((each) => levelOf(each))));
    return known.get(name)!;
  };
  const most = Math.max(...recording.map(({ record }) => levelOf(record)));
  const ordered = Array.from({ length: most + 1 }, (_, level) =>
    recording.filter(({ record }) => levelOf(record) === level),
  );
  return [...ordered, alerting];
}

function firingOf({ alert, expr, labels }: AlertingRule): RecordingRule {
  return {
    record: "ALERTS",
    expr: `(${expr}) * 0 + 1`,
    labels: { ...labels, alertname: alert, alertstate: "firing" },
  };
}
