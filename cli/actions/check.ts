import { createJobs } from "../../collectors/exporters/jobs.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { checkClusters } from "../check/clusters.ts";
import { checkDestinations } from "../check/destinations.ts";
import type { Finding } from "../check/finding.ts";
import { checkInvoices } from "../check/invoices.ts";
import { checkJob, type FoundTarget } from "../check/jobs.ts";
import { checkLedger } from "../check/ledger.ts";
import { checkPeople } from "../check/people.ts";
import { checkPort } from "../check/port.ts";
import { checkRemoteWrite } from "../check/remote-write.ts";
import { checkStorage } from "../check/storage.ts";
import { checkTraining } from "../check/training.ts";
import { CommandError, type CommandContext } from "../context.ts";

/** The options of `gpu-ledger check`. */
export interface CheckOptions {
  readonly config?: string;
  readonly format: "table" | "json";
}

/** Prints the result of each check, as a line when it is known or all of them as JSON. Fails with a `CommandError` if a check fails. */
export async function runCheck(options: CheckOptions, context: CommandContext): Promise<void> {
  const { config, path } = loadConfig(options.config, context.env);
  const results: { readonly result: Result; readonly what: string; readonly answer: string }[] = [];
  for await (const { ok, warns, what, answer } of checks(config, path)) {
    const result = ok ? (warns === true ? "warn" : "ok") : "fail";
    results.push({ result, what, answer });
    if (options.format === "table") context.stdout.write(`${WORDS[result]}  ${what}: ${answer}\n`);
  }
  if (options.format === "json") context.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
  const failed = results.filter(({ result }) => result === "fail").length;
  if (failed > 0) throw new CommandError(`${failed} of ${results.length} checks failed`);
}

type Result = "ok" | "warn" | "fail";
const WORDS: Readonly<Record<Result, string>> = { ok: "ok  ", warn: "warn", fail: "FAIL" };

async function* checks(config: Config, path: string | undefined): AsyncGenerator<Finding> {
  yield { ok: true, what: "configuration", answer: path ?? "no file; all values are defaults" };
  yield* checkPort(config, Date.now());
  yield* checkPeople(config);
  yield* checkStorage(config);
  yield* checkDestinations(config);
  yield* checkRemoteWrite(config);
  if (config.collector.jobs.length === 0 && config.collector.remoteWrite === undefined) {
    yield { ok: true, what: "targets", answer: "no collector.jobs: `gpu-ledger up` starts the demo fleet" };
  }
  const targets: FoundTarget[] = [];
  for (const job of createJobs(config)) targets.push(...(yield* checkJob(job)));
  yield* checkClusters(config, targets);
  yield* checkTraining(config, Date.now());
  yield* checkInvoices(config);
  yield* checkLedger(config, Date.now());
}
