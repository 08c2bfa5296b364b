import { readRunId } from "../../domain/training/identity.ts";
import { readSpan, type Span } from "../../reports/question/span.ts";
import { spanJson } from "../../reports/report/json.ts";
import { incidentJson, incidentSumsJson, runDetailJson, runJson } from "../../reports/training/json.ts";
import { readRunDetail } from "../../reports/training/read-detail.ts";
import { readIncidents } from "../../reports/training/read-incidents.ts";
import {
  byCost,
  readRunReports,
  runRulesOf,
  type ChargedRun,
  type TrainingQuestion,
} from "../../reports/training/read-reports.ts";
import { readRuns } from "../../reports/training/read-runs.ts";
import { incidentsText, runsText, runText } from "../../reports/training/text.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openTrainingMetrics } from "../../services/training-metrics.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { CommandError, orWrongUse, type CommandContext } from "../context.ts";
import { keptPolicies } from "../kept-policies.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { openLedger } from "../store.ts";

/** The options of `gpu-ledger runs`. */
export interface RunsOptions {
  readonly span: string;
  readonly team?: string;
  readonly incidents?: true;
  readonly policy?: string;
  readonly config?: string;
  readonly format: "table" | "json";
}

/** Prints training runs, one run, or incidents. */
export async function runRuns(run: string | undefined, options: RunsOptions, context: CommandContext): Promise<void> {
  if (run !== undefined && options.incidents === true)
    throw new CommandError("--incidents lists the incidents of all runs: give no run", 2);
  const { span } = orWrongUse("--span", readSpan(options.span, Date.now()));
  const { config } = loadLedgerConfig(options.config, context.env);
  const { training } = config;
  const [policy] = keptPolicies(ledgerOf(config), options.policy === undefined ? [] : [options.policy]);
  const { store, ledger } = await openLedger(config, context);
  const { currency } = ledger.book;
  const { metrics, stop } = openTrainingMetrics(training, createLogger("warn"));
  try {
    const asked: Asked = {
      store,
      span,
      team: options.team,
      question: { policy, where: [], training, metrics, now: Date.now() },
    };
    const answer = options.incidents === true ? await incidents(asked, currency) : await runs(asked, currency, run);
    const text =
      options.format === "json" ? `${JSON.stringify({ policy, currency, ...answer.json }, null, 2)}\n` : answer.text;
    context.stdout.write(text);
  } finally {
    await stop();
    await store.close();
  }
}

interface Asked {
  readonly store: StoreClient;
  readonly span: Span;
  readonly team: string | undefined;
  readonly question: TrainingQuestion;
}

interface Answer {
  readonly text: string;
  readonly json: object;
}

async function incidents({ store, span, question }: Asked, currency: string): Promise<Answer> {
  const found = (await readIncidents(store, span, question)).toSorted(byCost);
  return {
    text: incidentsText(found, currency),
    json: { span: spanJson(span), ...incidentSumsJson(found), incidents: found.map(incidentJson) },
  };
}

async function runs(asked: Asked, currency: string, named: string | undefined): Promise<Answer> {
  const { store, question } = asked;
  if (named === undefined) {
    const found = (await reportsOf(asked)).toSorted(byCost);
    return { text: runsText(found, currency), json: { runs: found.map(runJson) } };
  }
  const id = readRunId(named) === undefined ? (await lastOf(asked, named)).run.id : named;
  const detail = await readRunDetail(store, id, question);
  if (detail === undefined) throw new CommandError(`there is no training run ${named} with charges`);
  return { text: runText(detail, currency), json: runDetailJson(detail) };
}

async function reportsOf({ store, span, team, question }: Asked): Promise<readonly ChargedRun[]> {
  const found = await readRuns(store, runRulesOf(question.training), span);
  const reports = await readRunReports(store, found, question);
  return team === undefined ? reports : reports.filter((report) => report.team === team);
}

/** Returns the last run of a name in the span. */
async function lastOf(asked: Asked, name: string): Promise<ChargedRun> {
  const last = (await reportsOf(asked)).findLast(({ run }) => run.name === name);
  if (last === undefined)
    throw new CommandError(
      `there is no training run ${name} with charges in ${asked.span.name}: --span has another time`,
    );
  return last;
}
