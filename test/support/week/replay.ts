import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { RuleGroup } from "../../../alerts/model.ts";
import { ruleFile } from "../../../alerts/render/rule-file.ts";
import type { InputSeries } from "../rules/case.ts";
import { PROMTOOL_ENVIRONMENT } from "../rules/promtool.ts";

/** An alert that fired without a break. */
export interface Firing {
  readonly alert: string;
  /** Its labels except its name. */
  readonly labels: Readonly<Record<string, string>>;
  /** The first and the last step at which it fired. */
  readonly from: number;
  readonly to: number;
}

/**
 * Plays days of samples through Prometheus' own rule engine in promtool, and returns every alert that fired. The test expects no alert at any step;
 * promtool's failure messages then contain the alerts that fire.
 */
export async function replay(
  groups: readonly RuleGroup[],
  inputs: readonly InputSeries[],
  { steps, stepSeconds }: { readonly steps: number; readonly stepSeconds: number },
): Promise<readonly Firing[]> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-week-"));
  try {
    await writeFile(join(folder, "rules.yaml"), ruleFile(groups));
    await writeTest(join(folder, "test.yaml"), groups, inputs, steps, stepSeconds);
    return await play(folder, stepSeconds);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Written by hand: a week has too many numbers for a library's tree. */
async function writeTest(
  path: string,
  groups: readonly RuleGroup[],
  inputs: readonly InputSeries[],
  steps: number,
  stepSeconds: number,
): Promise<void> {
  const out = createWriteStream(path);
  const write = async (text: string): Promise<void> => {
    if (!out.write(text)) await once(out, "drain");
  };
  const step = `${stepSeconds}s`;
  const order = groups.map(({ name }) => JSON.stringify(name)).join(", ");
  await write(`rule_files: [rules.yaml]\nevaluation_interval: ${step}\ngroup_eval_order: [${order}]\ntests:\n`);
  await write(`- interval: ${step}\n  input_series:\n`);
  for (const { series, values } of inputs) {
    await write(`  - series: '${series.replaceAll("'", "''")}'\n    values: '${values}'\n`);
  }
  await write("  promql_expr_test:\n");
  for (let at = 0; at < steps; at++) {
    await write(`  - {expr: 'ALERTS{alertstate="firing"}', eval_time: ${at * stepSeconds}s}\n`);
  }
  out.end();
  await once(out, "close");
}

async function play(folder: string, stepSeconds: number): Promise<readonly Firing[]> {
  const promtool = spawn("promtool", ["test", "rules", "test.yaml"], {
    cwd: folder,
    env: PROMTOOL_ENVIRONMENT,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(promtool, "close");
  const others: string[] = [];
  const open = new Map<string, { alert: string; labels: Record<string, string>; from: number; to: number }>();
  const firings: Firing[] = [];
  let step = -1;
  for await (const line of createInterface({ input: promtool.stderr })) {
    const time = /^\s*expr: .*, time: (\S+),\s*$/.exec(line)?.[1];
    if (time !== undefined) step = secondsOf(time) / stepSeconds;
    if (step < 0) others.push(line);
    if (!/^\s*got: \{/.test(line)) continue;
    for (const [text] of line.matchAll(/\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}/g)) {
      const known = open.get(text);
      if (known?.to === step - 1) {
        known.to = step;
        continue;
      }
      if (known !== undefined) firings.push(known);
      open.set(text, { ...readLabels(text), from: step, to: step });
    }
  }
  const [code] = (await ended) as [number | null];
  if (step < 0 && code !== 0) throw new Error(`promtool failed: ${others.join("\n").slice(0, 2000)}`);
  return [...firings, ...open.values()].toSorted((a, b) => a.from - b.from);
}

function readLabels(text: string): { readonly alert: string; readonly labels: Record<string, string> } {
  const all = [...text.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)].map(([, name, value]) => [
    name!,
    JSON.parse(value!) as string,
  ]);
  const { alertname, alertstate: _, __name__: __, ...labels } = Object.fromEntries(all) as Record<string, string>;
  return { alert: alertname ?? "", labels };
}

/** A duration as Prometheus prints it: `1d2h3m4s`. */
function secondsOf(text: string): number {
  const seconds = { w: 604_800, d: 86_400, h: 3600, m: 60, s: 1 } as const;
  return [...text.matchAll(/(\d+)([wdhms])(?!s)/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * seconds[unit as keyof typeof seconds],
    0,
  );
}
