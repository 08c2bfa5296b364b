import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { createKubeAccess } from "../../collectors/kubernetes/api/access.ts";
import { createApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import { resourceNamesOf, type ResourceNames } from "../../collectors/kubernetes/projection/gpu-resource.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import { systemClock } from "../../runtime/clock.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { snapshotHtml } from "../../snapshot/html.tsx";
import { snapshotJson } from "../../snapshot/json.ts";
import { LIST_PRICES, listPrices } from "../../runtime/config/list-prices.ts";
import { seeCluster } from "../../snapshot/see-cluster.ts";
import { seeFiles } from "../../snapshot/see-files.ts";
import type { Seen } from "../../snapshot/seen.ts";
import { snapshotOf } from "../../snapshot/snapshot.ts";
import { snapshotText } from "../../snapshot/text.ts";
import { CommandError, errorText, type CommandContext } from "../context.ts";
import { readBookOf } from "../prices/book.ts";

/** The options of `gpu-ledger snapshot`. */
export interface SnapshotOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly objects?: readonly string[];
  readonly pages?: readonly string[];
  readonly cluster: string;
  readonly prices?: string;
  readonly config?: string;
  readonly format: "table" | "json";
  readonly html?: string;
}

/** The time limits of one answer of the API server, and of the whole command. */
const ANSWER_MILLIS = 10_000;
const WHOLE_MILLIS = 120_000;

/** Prints what the GPUs of a cluster cost now, and writes the HTML file if its name is given. */
export async function runSnapshot(options: SnapshotOptions, context: CommandContext): Promise<void> {
  const { cluster, config: path, format, html } = options;
  const { config } = loadConfig(path, path === undefined ? {} : context.env);
  const resourceNames = resourceNamesOf(config.kubernetes.gpuResources, config.kubernetes.hami);
  const { book, source } = pricesOf(options, context.env);
  const seen = await see(options, resourceNames);
  const snapshot = snapshotOf(seen, { cluster, resourceNames, owners: ledgerOf(config).owners, book });
  if (html !== undefined) writeHtml(html, snapshotHtml(snapshot, source, context.version));
  context.stdout.write(
    format === "json"
      ? `${JSON.stringify(snapshotJson(snapshot, source), undefined, 2)}\n`
      : snapshotText(snapshot, source),
  );
}

async function see(
  { objects, pages = [], kubeconfig, context }: SnapshotOptions,
  resourceNames: ResourceNames,
): Promise<Seen> {
  if (objects !== undefined) {
    const seen = seeFiles({ objects, pages, atMillis: Date.now() });
    if ("problems" in seen) throw new CommandError(seen.problems.join("\n"), 2);
    return seen;
  }
  if (pages.length > 0) throw new CommandError("--pages: needs --objects, because a live cluster has its own pages", 2);
  const access = createKubeAccess({
    ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const api = createApiConnection(access, systemClock);
  try {
    return await seeCluster(api, {
      timeoutMillis: ANSWER_MILLIS,
      signal: AbortSignal.timeout(WHOLE_MILLIS),
      now: Date.now,
      kinds: ownerKinds(),
      resourceNames,
    });
  } catch (error) {
    throw new CommandError(errorText(error));
  } finally {
    api.close();
  }
}

/** Returns the price book of `--prices`, or of `--config`, or the public list prices. */
function pricesOf(
  { prices, config }: SnapshotOptions,
  env: NodeJS.ProcessEnv,
): { readonly book: PriceBook; readonly source: string } {
  if (prices === undefined && config === undefined)
    return { book: listPrices(), source: `${LIST_PRICES}: use --prices FILE` };
  const read = readBookOf(prices, config, env);
  if ("book" in read) return { book: read.book, source: read.name };
  const problems = read.problems.map(
    ({ key, line, message }) => `${key}${line === undefined ? "" : ` (line ${line})`}: ${message}`,
  );
  throw new CommandError(`${read.name}:\n${problems.join("\n")}`, 2);
}

function writeHtml(file: string, text: string): void {
  try {
    writeFileSync(resolve(file), text);
  } catch (error) {
    throw new CommandError(`--html ${file}: ${errorText(error)}`);
  }
}
