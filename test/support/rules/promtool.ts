import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import type { AlertingRule, RuleGroup } from "../../../alerts/model.ts";
import { ruleFile } from "../../../alerts/render/rule-file.ts";
import { rulesFor } from "./closure.ts";
import type { Expectation, RuleCase } from "./case.ts";

/**
 * Plays cases on the rules that they ask for, with the real promtool. Gives nothing where all is as expected, else what
 * promtool prints. Fails where promtool can't run.
 */
export async function failuresOf(groups: readonly RuleGroup[], cases: readonly RuleCase[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-rules-"));
  try {
    const files = await Promise.all(
      cases.map(async (each, index) => {
        const rules = `rules-${index}.yaml`;
        const test = `test-${index}.yaml`;
        const needed = rulesOf(groups, each);
        await writeFile(join(folder, rules), ruleFile(needed));
        await writeFile(join(folder, test), testFile(needed, rules, each));
        return test;
      }),
    );
    return await run(folder, files);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function run(folder: string, files: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("promtool", ["test", "rules", ...files], { cwd: folder, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null) resolve("");
      else if (typeof error.code === "number") resolve(`${stdout}${stderr}`);
      else reject(error);
    });
  });
}

/** The rules that a case needs: those that it asks for and what they read, but what it feeds in itself. */
export function rulesOf(groups: readonly RuleGroup[], each: RuleCase): readonly RuleGroup[] {
  const given = new Set(each.input.map(({ series }) => series.slice(0, series.indexOf("{"))));
  const without = groups.map((group) => ({
    ...group,
    rules: group.rules.filter((rule) => !("record" in rule) || !given.has(rule.record)),
  }));
  return rulesFor(without, asked(each));
}

/** The alerts and recorded series that a case names. */
function asked({ expect }: RuleCase): readonly string[] {
  return expect.flatMap((each) =>
    "alert" in each ? [each.alert] : (each.expr.match(/[a-z_]+:[a-z_0-9]+:[a-z_0-9]+/g) ?? []),
  );
}

function testFile(
  groups: readonly RuleGroup[],
  rules: string,
  { name, every = "30s", evaluate = "30s", input, expect }: RuleCase,
): string {
  return stringify(
    {
      rule_files: [rules],
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

/** The annotations that are the same words always: promtool wants every one of an alert. */
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
