import { accessSync, constants, mkdirSync } from "node:fs";
import type { Command } from "commander";
import { inspectPage } from "../collectors/dcgm/inspect.ts";
import { createAuthorization } from "../collectors/dcgm/http/credentials.ts";
import { createConnections } from "../collectors/dcgm/http/connections.ts";
import { fetchPage } from "../collectors/dcgm/http/fetch-page.ts";
import { createReceiveBuffers } from "../collectors/dcgm/http/receive-buffers.ts";
import { createJobs } from "../collectors/dcgm/jobs.ts";
import type { ScrapeJob } from "../collectors/dcgm/collector.ts";
import type { Target } from "../collectors/dcgm/targets/target.ts";
import { openBus } from "../runtime/bus/open.ts";
import { topicDeclarations } from "../runtime/bus/topics.ts";
import { loadConfig } from "../runtime/config/load.ts";
import type { Config } from "../runtime/config/schema.ts";
import { connectStore, MIGRATIONS_FOLDER, outsideStore } from "../runtime/store/connection.ts";
import { listPendingMigrations } from "../runtime/store/migrate.ts";
import { createLogger } from "../runtime/telemetry/log.ts";
import { CommandError, tell, type CommandContext } from "./context.ts";

/** One thing that was tried. */
interface Finding {
  readonly ok: boolean;
  readonly what: string;
  readonly answer: string;
}

const DISCOVERY_MILLIS = 5_000;
const MOST_TARGETS = 50;

/** `gpu-ledger check`: tries every connection and permission of the configuration, and answers in plain words. */
export function addCheck(program: Command, context: CommandContext): void {
  program
    .command("check")
    .description("try everything that the configuration names, and say what works and what does not")
    .option("--config <file>", "the configuration")
    .action(async (options: { config?: string }) => {
      const { config, path } = loadConfig(options.config, context.env);
      const findings: Finding[] = [{ ok: true, what: "configuration", answer: path ?? "none; the defaults hold" }];
      for await (const finding of checks(config)) findings.push(finding);
      for (const { ok, what, answer } of findings)
        context.stdout.write(`${ok ? "ok  " : "FAIL"}  ${what}: ${answer}\n`);
      const failed = findings.filter(({ ok }) => !ok).length;
      if (failed > 0) throw new CommandError(`${failed} of ${findings.length} checks failed`);
    });
}

async function* checks(config: Config): AsyncGenerator<Finding> {
  yield await attempt(`data folder ${config.data}`, () => {
    mkdirSync(config.data, { recursive: true });
    accessSync(config.data, constants.R_OK | constants.W_OK);
    return Promise.resolve("can be read and written");
  });
  yield await attempt(`bus (${config.bus.kind})`, () => checkBus(config));
  yield await attempt(`store (${config.store.kind})`, () => checkStore(config));
  if (config.collector.jobs.length === 0) {
    yield { ok: true, what: "targets", answer: "no collector.jobs: `gpu-ledger up` starts the demo fleet" };
  }
  for (const job of createJobs(config)) yield* checkJob(job);
}

async function attempt(what: string, run: () => Promise<string>): Promise<Finding> {
  try {
    return { ok: true, what, answer: await run() };
  } catch (error) {
    return { ok: false, what, answer: tell(error) };
  }
}

async function checkBus(config: Config): Promise<string> {
  const bus = await openBus(config, createLogger("fatal"));
  try {
    const topics = topicDeclarations(config.bus);
    await bus.declare(topics);
    const counts = await Promise.all(
      topics.map(async ({ name }) => `${name} (${(await bus.watermarks(name)).length})`),
    );
    return `answers; topics with their partitions: ${counts.join(", ")}`;
  } finally {
    await bus.close();
  }
}

async function checkStore(config: Config): Promise<string> {
  const address = outsideStore(config);
  if (address === undefined) return "its process starts with `gpu-ledger up`";
  const store = connectStore(address, config);
  try {
    await store.ping();
    const pending = await listPendingMigrations(store, MIGRATIONS_FOLDER);
    const state = pending.length === 0 ? "migrated" : `to be migrated: ${pending.join(", ")} (gpu-ledger migrate)`;
    return `${address.url} answers as ${address.username}; database ${address.database} is ${state}`;
  } finally {
    await store.close();
  }
}

async function* checkJob(job: ScrapeJob): AsyncGenerator<Finding> {
  const targets: Target[] = [];
  for (const discovery of job.discoveries) {
    const found = await new Promise<readonly Target[] | Error>((resolve) => {
      const timer = setTimeout(() => resolve(new Error("no answer in time")), DISCOVERY_MILLIS);
      const settle = (answer: readonly Target[] | Error): void => (clearTimeout(timer), resolve(answer));
      discovery.start(settle, settle);
    });
    await discovery.stop();
    const what = `job ${job.name}, ${discovery.name}`;
    if (found instanceof Error) yield { ok: false, what, answer: found.message };
    else {
      targets.push(...found);
      yield { ok: true, what, answer: `${found.length} targets` };
    }
  }
  const connections = createConnections(job);
  const buffers = createReceiveBuffers();
  const authorization = createAuthorization(job.credentials);
  for (const { url } of targets.slice(0, MOST_TARGETS)) {
    const request = { ...job, url: new URL(url), authorization };
    const answer = await fetchPage(connections, buffers, request);
    const what = `job ${job.name}, ${url}`;
    if ("reason" in answer) {
      yield { ok: false, what, answer: `${answer.reason}: ${answer.detail}` };
      continue;
    }
    const inspection = inspectPage(answer.page, answer.complete);
    answer.release();
    if ("reason" in inspection) yield { ok: false, what, answer: `${inspection.reason}: ${inspection.detail}` };
    else {
      const { exporter, devices, drops } = inspection;
      yield { ok: true, what, answer: `${exporter}, ${devices.length} devices, ${drops.length} lines left out` };
    }
  }
  connections.close();
  if (targets.length > MOST_TARGETS) {
    yield {
      ok: true,
      what: `job ${job.name}`,
      answer: `${targets.length - MOST_TARGETS} further targets were not tried`,
    };
  }
}
