import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { AlertingRule, RuleGroup } from "../../../alerts/model.ts";
import { ruleFile } from "../../../alerts/render/rule-file.ts";
import { rulesFor } from "./closure.ts";
import type { Expectation, RuleCase } from "./case.ts";

/** A case and the rules for its play. */
export interface Play {
  readonly groups: readonly RuleGroup[];
  readonly each: RuleCase;
}

/** The two files of a play. They determine promtool's verdict. */
export interface PlayFiles {
  /** The rules that the case needs. */
  readonly rules: string;
  /** The case as promtool's unit test, which names the rules' file. */
  readonly test: string;
}

/** The files of a play in promtool's format. */
export function filesOf({ groups, each }: Play): PlayFiles {
  const needed = rulesOf(groups, each);
  return { rules: ruleFile(needed), test: testFile(needed, each) };
}

/** Plays a case with the real promtool. Returns the empty text if the case passes, otherwise promtool's output. */
export async function failureOf(play: Play): Promise<string> {
  const { isPassed, stdout, stderr } = await promtool([filesOf(play)]);
  return isPassed ? "" : `${stdout}${stderr}`;
}

/** Plays cases one after the other in one process of promtool, and returns for each whether it passed. */
export async function arePassed(plays: readonly PlayFiles[]): Promise<readonly boolean[]> {
  const { stdout } = await promtool(plays);
  const passed = new Set(
    stdout
      .split(/^Unit Testing: +/m)
      .filter((said) => said.includes("SUCCESS"))
      .map((said) => said.slice(0, said.indexOf("\n"))),
  );
  return plays.map((_, index) => passed.has(testName(index)));
}

interface Outcome {
  readonly isPassed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Fails where promtool can't run. */
async function promtool(plays: readonly PlayFiles[]): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-rules-"));
  try {
    await Promise.all(
      plays.map(async ({ rules, test }, index) => {
        await mkdir(join(folder, String(index)));
        await writeFile(join(folder, String(index), RULES), rules);
        await writeFile(join(folder, testName(index)), test);
      }),
    );
    return await run(
      folder,
      plays.map((_, index) => testName(index)),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The file is in the folder of each test's file; promtool resolves the name from there. */
const RULES = "rules.yaml";

function testName(index: number): string {
  return join(String(index), "test.yaml");
}

/** Go collects garbage less often than by default: up to a quarter faster, for 130 MiB instead of 70. */
export const PROMTOOL_ENVIRONMENT = { ...process.env, GOGC: "400" };

function run(cwd: string, files: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: PROMTOOL_ENVIRONMENT, maxBuffer: 2 ** 26 };
    execFile("promtool", ["test", "rules", ...files], options, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== "number") reject(error);
      else resolve({ isPassed: error === null, stdout, stderr });
    });
  });
}

/** The rules of a case: those that it asks for and those that these read, except the series that its input has. */
export function rulesOf(groups: readonly RuleGroup[], each: RuleCase): readonly RuleGroup[] {
  const given = new Set(each.input.map(({ series }) => series.slice(0, series.indexOf("{"))));
  const without = groups.map((group) => ({
    ...group,
    rules: group.rules.filter((rule) => !("record" in rule) || !given.has(rule.record)),
  }));
  return rulesFor(without, askedOf(each));
}

/** The alerts and recorded series that a case asks for. */
export function askedOf({ expect }: RuleCase): readonly string[] {
  return expect.flatMap((each) =>
    "alert" in each ? [each.alert] : (each.expr.match(/[a-z_]+:[a-z_0-9]+:[a-z_0-9]+/g) ?? []),
  );
}

function testFile(
  groups: readonly RuleGroup[],
  { name, every = "30s", evaluate = "30s", input, expect }: RuleCase,
): string {
  return stringify(
    {
      rule_files: [RULES],
      evaluation_interval: evaluate,
      group_eval_order: groups.map((group) => group.name),
      tests: [
        {
          name,
          interval: every,
          input_series: input,
          alert_rule_test: expect.flatMap((each) => ("alert" in each ? [alertTest(groups, each)] : [])),
          promql_expr_test: expect.flatMap((each) => ("expr" in each ? [exprTest(each)] : [])),
        },
      ],
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}

function alertTest(
  groups: readonly RuleGroup[],
  { at, alert, firing }: Extract<Expectation, { alert: string }>,
): object {
  return {
    eval_time: at,
    alertname: alert,
    exp_alerts: firing.map(({ labels, annotations }) => ({
      exp_labels: { gpu_topic: ruleOf(groups, alert, labels)?.labels["gpu_topic"], ...labels },
      exp_annotations: { ...given(ruleOf(groups, alert, labels)), ...annotations },
    })),
  };
}

/** The constant annotations: promtool requires every annotation of an alert. */
function given(rule: AlertingRule | undefined): object {
  return { summary: rule?.annotations["summary"], runbook_url: rule?.annotations["runbook_url"] };
}

function ruleOf(
  groups: readonly RuleGroup[],
  alert: string,
  labels: Readonly<Record<string, string>>,
): AlertingRule | undefined {
  const rules = groups
    .flatMap((group) => group.rules)
    .filter((rule): rule is AlertingRule => "alert" in rule && rule.alert === alert);
  return rules.find((each) => each.labels["severity"] === labels["severity"]) ?? rules[0];
}

function exprTest({ at, expr, samples }: Extract<Expectation, { expr: string }>): object {
  return {
    expr,
    eval_time: at,
    exp_samples: Object.entries(samples).map(([labels, value]) => ({ labels, value })),
  };
}
