import { createJobs } from "../../collectors/exporters/jobs.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { checkClusters } from "../check/clusters.ts";
import { checkDestinations } from "../check/destinations.ts";
import type { Finding } from "../check/finding.ts";
import { checkJob, type FoundTarget } from "../check/jobs.ts";
import { checkLedger } from "../check/ledger.ts";
import { checkPort } from "../check/port.ts";
import { checkRemoteWrite } from "../check/remote-write.ts";
import { checkStorage } from "../check/storage.ts";
import { checkTraining } from "../check/training.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { readable } from "../table.ts";

/** The options of `gpu-ledger check`. */
export interface CheckOptions {
  readonly config?: string;
}

/** Prints the result of each check. Fails with a `CommandError` if a check fails. */
export async function runCheck(options: CheckOptions, context: CommandContext): Promise<void> {
  const { config, path } = loadConfig(options.config, context.env);
  let [tried, failed] = [0, 0];
  for await (const { ok, what, answer } of checks(config, path)) {
    tried += 1;
    if (!ok) failed += 1;
    context.stdout.write(readable(`${ok ? "ok  " : "FAIL"}  ${what}: ${answer}\n`));
  }
  if (failed > 0) throw new CommandError(`${failed} of ${tried} checks failed`);
}

async function* checks(config: Config, path: string | undefined): AsyncGenerator<Finding> {
  yield { ok: true, what: "configuration", answer: path ?? "no file; all values are defaults" };
  yield* checkPort(config, Date.now());
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
  yield* checkLedger(config, Date.now());
}
