import { counted } from "../../domain/counted.ts";
import { isWebAddress } from "../../runtime/config/words.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { authorizationOf } from "../../collectors/exporters/http/credentials.ts";
import { importSpan, StuckError } from "../../collectors/prometheus/import/import.ts";
import { openProgress } from "../../collectors/prometheus/import/progress.ts";
import { surveyServer, type Survey } from "../../collectors/prometheus/import/survey.ts";
import { createPrometheusClient, type PrometheusClient } from "../../collectors/prometheus/read/client.ts";
import { openSource, type SampleSource } from "../../collectors/prometheus/read/source.ts";
import type { Span } from "../../collectors/prometheus/read/samples.ts";
import { SourceError } from "../../collectors/prometheus/read/source-error.ts";
import type { Matcher } from "../../collectors/prometheus/read/wire.ts";
import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";
import { DAY_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";
import { openBus } from "../../runtime/bus/open.ts";
import { topicDeclarations } from "../../runtime/bus/topics.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { knownLabelsOf, projectionOf } from "../../services/projection.ts";
import { CommandError, errorText, type CommandContext } from "../context.ts";
import { createImportView } from "../import/view.ts";
import { planOf, planText } from "../import/plan.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { openStore } from "../store.ts";

/** The options of `gpu-ledger import prometheus`. */
export interface ImportOptions {
  readonly url: string;
  readonly from: string;
  readonly until?: string;
  readonly cluster?: string;
  readonly match: readonly string[];
  readonly tokenFile?: string;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly tenant?: string;
  readonly ca?: string;
  readonly maxLoad: string;
  readonly ahead: string;
  readonly again?: true;
  readonly allowPartial?: true;
  readonly dryRun?: true;
  readonly format: "table" | "json";
  readonly config?: string;
}

/** How long the command waits for a server that is unavailable, and for one answer. */
const WAITS = { patienceMillis: 5 * MINUTE_MILLIS, timeoutMillis: 2 * MINUTE_MILLIS };
/** The same at the beginning, so that a wrong address is reported soon. */
const FIRST_WAITS: typeof WAITS = { patienceMillis: 0, timeoutMillis: 10_000 };
/** A larger answer is asked for in smaller parts. */
const MOST_BYTES = 256 * 2 ** 20;

/** Imports the past of a Prometheus, or prints the plan of the import. */
export async function runImport(options: ImportOptions, context: CommandContext): Promise<void> {
  const { config } = loadLedgerConfig(options.config, context.env);
  const span = spanOf(options, config, Date.now());
  const conditions = options.match.map(conditionOf);
  const partial: PartialAnswers = { count: 0, example: "" };
  const client = clientOf(options, context, WAITS, partial);
  try {
    await meetServer(options, context);
    const source = await openSource(client, span.untilMillis);
    const survey = await surveyServer(client, source, conditions, span);
    if (survey.found === undefined)
      throw new CommandError(
        `the server has no series of a known GPU exporter between ${textOf(span)}; \`gpu-ledger import prometheus --help\` has --match, --from and --until`,
      );
    const own = { client, source, survey, conditions };
    if (options.dryRun === true) await showPlan(own, span, options, context);
    else await run(own, span, options, config, context);
    if (partial.count > 0) {
      const answers = counted(partial.count, "answer");
      context.stderr.write(`${answers} of the server had only a part of the data, such as: ${partial.example}\n`);
    }
  } catch (error) {
    if (error instanceof StuckError) throw new CommandError(error.message);
    if (error instanceof SourceError) throw new CommandError(sentenceOf(error, options.url));
    throw error;
  } finally {
    await client.close();
  }
}

/** Fails if the address is not that of a server with Prometheus' API. */
async function meetServer(options: ImportOptions, context: CommandContext): Promise<void> {
  const client = clientOf(options, context, FIRST_WAITS);
  try {
    await client.get("/api/v1/query", { query: "vector(1)" });
  } catch (error) {
    if (!(error instanceof SourceError) || error.kind === "refused") throw error;
    const isOther = error.kind === "unsupported" || error.kind === "broken";
    const what = isOther ? `${options.url} has no API of Prometheus: ${error.message}` : error.message;
    throw new CommandError(`${what}; see docs/import.md`);
  } finally {
    await client.close();
  }
}

/** Incomplete answers that `--allow-partial` has accepted. */
interface PartialAnswers {
  count: number;
  example: string;
}

interface Opened {
  readonly client: PrometheusClient;
  readonly source: SampleSource;
  readonly survey: Survey;
  readonly conditions: readonly Matcher[];
}

async function showPlan(
  opened: Opened,
  span: Span,
  { format }: ImportOptions,
  { stdout }: CommandContext,
): Promise<void> {
  const plan = await planOf(opened, span);
  stdout.write(format === "json" ? `${JSON.stringify(plan, undefined, 2)}\n` : planText(plan));
}

async function run(
  opened: Opened,
  span: Span,
  { url, cluster = "", ahead, again, match }: ImportOptions,
  config: Config,
  { stderr, stdout }: CommandContext,
): Promise<void> {
  const mostBacklog = Number(ahead);
  if (!Number.isInteger(mostBacklog) || mostBacklog < 1)
    throw new CommandError(`--ahead ${ahead}: must be a whole number of at least 1`, 2);
  const name = cluster === "" ? config.cluster : cluster;
  const found = opened.survey.found!;
  const store = await openStore(config);
  const bus = await openBus(config, createLogger("error"));
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new CommandError("interrupted; the same command continues"));
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    await bus.declare(topicDeclarations(config.bus));
    const progress = openProgress(join(config.data, "imports"), {
      url,
      cluster: name,
      match,
      fromMillis: span.fromMillis,
    });
    if (again === true) progress.forget();
    const view = createImportView({ found, stderr, reachedMillis: progress.reachedMillis });
    const imported = await importSpan(
      {
        ...opened,
        kube: { cluster: name, projection: projectionOf(config), knownLabels: knownLabelsOf(config) },
        bus,
        store,
        mostBacklog,
        progress,
        events: view,
        signal: stopping.signal,
      },
      { fromMillis: found.fromMillis, untilMillis: found.untilMillis },
    );
    progress.forget();
    stdout.write(view.summary(imported));
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    await bus.close();
    await store.close();
  }
}

function clientOf(
  options: ImportOptions,
  { stderr }: CommandContext,
  waits: typeof WAITS,
  partial?: PartialAnswers,
): PrometheusClient {
  const { url, tokenFile, user, passwordFile, tenant, ca } = options;
  if (!isWebAddress(url))
    throw new CommandError("--url: must be an address with http or https, without a user name; see --user", 2);
  const maxLoad = Number(options.maxLoad);
  if (!(maxLoad > 0 && maxLoad <= 1))
    throw new CommandError(`--max-load ${options.maxLoad}: must be above 0 and at most 1`, 2);
  if (user !== undefined && passwordFile === undefined) throw new CommandError("--user: needs --password-file", 2);
  const authorization = authorizationOf(
    tokenFile !== undefined
      ? { bearerToken: read("--token-file", tokenFile) }
      : user !== undefined && passwordFile !== undefined
        ? { basic: { username: user, password: read("--password-file", passwordFile) } }
        : {},
  );
  return createPrometheusClient({
    url,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(tenant === undefined ? {} : { "x-scope-orgid": tenant }),
    },
    maxLoad,
    ...waits,
    mostBytes: MOST_BYTES,
    ...(ca === undefined ? {} : { ca: read("--ca", ca) }),
    onRetry: (message, millis) => stderr.write(`${message}; next attempt in ${Math.ceil(millis / 1000)} s\n`),
    ...(partial === undefined || options.allowPartial !== true
      ? {}
      : {
          onPartial(sentence: string) {
            partial.count += 1;
            partial.example = sentence;
          },
        }),
  });
}

function read(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new CommandError(`${option} ${file}: ${errorText(error)}`, 2);
  }
}

/** Returns the span of an import. Fails if the ledger would not charge its beginning. */
function spanOf({ from, until, dryRun }: ImportOptions, config: Config, now: number): Span {
  const fromMillis = timeOf("--from", from);
  const untilMillis = until === undefined ? now : Math.min(now, timeOf("--until", until));
  if (untilMillis <= fromMillis) throw new CommandError("--until: must be after --from, which must be before now", 2);
  const { rawDays } = config.store;
  const wanted = Math.ceil((now - fromMillis) / DAY_MILLIS) + 2;
  if (wanted > rawDays && dryRun !== true)
    throw new CommandError(
      `--from ${from}: rows of samples are kept for ${rawDays} days, so older hours are not charged; set store.rawDays to at least ${wanted} in the configuration, restart gpu-ledger, and import again`,
    );
  return { fromMillis, untilMillis };
}

function timeOf(option: string, text: string): number {
  const millis = instantOf(text);
  if (millis === undefined) throw new CommandError(`${option} ${text}: must be ${INSTANT_FORM}`, 2);
  return millis;
}

function conditionOf(text: string): Matcher {
  const [, label, value] = /^([a-zA-Z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (label === undefined || value === undefined) throw new CommandError(`--match ${text}: must be label=value`, 2);
  return { label, is: "=", value };
}

function sentenceOf({ kind, message }: SourceError, url: string): string {
  if (kind === "refused")
    return `${url} refuses the request; --token-file, --user or --tenant may be missing (${message})`;
  if (kind === "unavailable") return `${message}; the same command continues where this one ended`;
  return `${url}: ${message}`;
}

function textOf({ fromMillis, untilMillis }: Span): string {
  return [fromMillis, untilMillis].map((millis) => new Date(millis).toISOString()).join(" and ");
}
