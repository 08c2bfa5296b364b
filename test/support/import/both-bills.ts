import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importSpan, type Imported } from "../../../collectors/prometheus/import/import.ts";
import { openProgress } from "../../../collectors/prometheus/import/progress.ts";
import { surveyServer } from "../../../collectors/prometheus/import/survey.ts";
import { createPrometheusClient } from "../../../collectors/prometheus/read/client.ts";
import { openSource, type SampleSource } from "../../../collectors/prometheus/read/source.ts";
import type { Span } from "../../../collectors/prometheus/read/samples.ts";
import type { Matcher } from "../../../collectors/prometheus/read/wire.ts";
import { parseConfig } from "../../../runtime/config/load.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { Bill } from "../../../scenarios/bill.ts";
import type { PlayedMessage } from "../../../scenarios/play/message.ts";
import { withDemoLedger } from "../../../services/demo-config.ts";
import { knownLabelsOf, projectionOf } from "../../../services/projection.ts";
import { createTestDatabase } from "../database.ts";
import { chargeMessages, sumsOf } from "./charge.ts";
import { playDemo, STATE_MILLIS } from "./demo-past.ts";
import { fillPrometheus } from "./scraped-prometheus.ts";

/** Labels and annotations of all kinds that the demo's owners and prices need. */
const ALL = Object.fromEntries(
  ["pods", "nodes", "namespaces", "jobs", "deployments", "statefulsets"].map((kind) => [kind, ["*"]]),
);

/** The result of an import into a list, instead of a bus. */
export interface ImportedMessages extends Imported {
  readonly way: SampleSource["way"];
  readonly messages: readonly PlayedMessage[];
}

/** The options of an import into a list. */
export interface ImportIntoOptions {
  readonly conditions?: readonly Matcher[];
  /** Called with all messages until then, after each send. */
  readonly onSend?: (messages: readonly PlayedMessage[]) => void;
  /** The folder of the progress; by default one that is removed. */
  readonly folder?: string;
  readonly patienceMillis?: number;
  /** The number of messages on the bus, in one partition. */
  readonly onBus?: () => number;
  /** Called while the import waits for the processors. */
  readonly onWaiting?: (backlog: number) => void;
}

/** Imports a span of the demo's cluster from a server. `store` has what collectors stored before. */
export async function importInto(
  store: StoreClient,
  url: string,
  span: Span,
  {
    conditions = [],
    onSend,
    folder: kept,
    patienceMillis = 10_000,
    onBus = () => 0,
    onWaiting = () => {},
  }: ImportIntoOptions = {},
): Promise<ImportedMessages> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), "gpu-ledger-import-"));
  const client = createPrometheusClient({
    url,
    headers: {},
    maxLoad: 1,
    patienceMillis,
    timeoutMillis: 30_000,
    mostBytes: 1e8,
    onRetry: () => {},
  });
  const config = withDemoLedger(parseConfig("", { source: "the default", folder: ".", env: {} }));
  const messages: PlayedMessage[] = [];
  try {
    const source = await openSource(client, span.fromMillis);
    const imported = await importSpan(
      {
        client,
        source,
        survey: await surveyServer(client, source, conditions, span),
        conditions,
        kube: { cluster: "demo", projection: projectionOf(config), knownLabels: knownLabelsOf(config) },
        bus: {
          send(topic, sent) {
            for (const { key, value, schemaVersion } of sent)
              messages.push({ topic: topic as PlayedMessage["topic"], atMillis: 0, key, value: value!, schemaVersion });
            onSend?.(messages);
            return Promise.resolve();
          },
          watermarks: (topic) => Promise.resolve([{ topic, partition: 0, low: 0, high: onBus() }]),
        },
        store,
        mostBacklog: 1,
        progress: openProgress(folder, {}),
        events: { onFacts: () => {}, onReached: () => {}, onWaiting },
        signal: new AbortController().signal,
      },
      span,
    );
    return { ...imported, way: source.way, messages };
  } finally {
    await client.close();
    if (kept === undefined) rmSync(folder, { recursive: true });
  }
}

/** The bill of collectors, and that of an import of the same time from a real Prometheus that scraped the same. */
export interface BothBills {
  readonly collected: Bill;
  readonly imported: Bill;
  readonly import: ImportedMessages;
}

/** A server to fill and to import from. Thanos has two addresses. */
export interface FilledServer {
  readonly url: string;
  readonly written?: { readonly url: string; readonly path: string };
  /** Called when all samples were sent. */
  readonly onFilled?: () => Promise<void>;
}

/** Charges a span of the demo twice: as collectors saw it, and as a Prometheus scraped it, which is filled with the span. */
export async function billsOfDemo(
  { url, written, onFilled }: FilledServer,
  name: string,
  span: Span,
  gpus = 96,
): Promise<BothBills> {
  const [one, other] = await Promise.all([
    createTestDatabase(`${name}_collected`),
    createTestDatabase(`${name}_imported`),
  ]);
  try {
    const state = { labelsAllowlist: ALL, annotationsAllowlist: ALL };
    const past = await playDemo(fillPrometheus(written?.url ?? url, written?.path), span, { gpus, state });
    await onFilled?.();
    const collected = await chargeMessages(one, past.collected, "demo", span);
    const result = await importInto(other, url, span);
    return { collected, imported: await chargeMessages(other, result.messages, "demo", span), import: result };
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

/** A line that both bills have with different GPU-hours. */
export interface Difference {
  readonly line: string;
  readonly gpuMinutes: number;
}

/** Returns the differences of two bills by some dimensions. */
export function differencesOf({ collected, imported }: BothBills, by: readonly string[]): readonly Difference[] {
  const [one, other] = [sumsOf(collected, by), sumsOf(imported, by)];
  return [...new Set([...one.keys(), ...other.keys()])].toSorted().flatMap((line) => {
    const gpuMinutes = ((other.get(line)?.gpuHours ?? 0) - (one.get(line)?.gpuHours ?? 0)) * 60;
    return gpuMinutes === 0 ? [] : [{ line, gpuMinutes }];
  });
}

/** The longest time between the end of a pod and its last sample. */
export const LATE_MILLIS = STATE_MILLIS;
