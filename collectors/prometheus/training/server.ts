import type { Run } from "../../../domain/training/identity.ts";
import type { PrometheusClient } from "../read/client.ts";
import { selectorOf } from "../read/query.ts";
import type { Matcher } from "../read/wire.ts";

/** A Prometheus with series of trainings, and their names. */
export interface TrainingServer {
  readonly client: PrometheusClient;
  /** The clusters whose series it has; undefined for all. */
  readonly clusters?: readonly string[] | undefined;
  /** The label with the cluster's name, if its series have one. */
  readonly clusterLabel?: string | undefined;
  readonly step: string;
  /** When the last checkpoint was complete, seconds since the epoch. */
  readonly checkpoint: string;
  /** How long training stood still for it. */
  readonly checkpointSeconds: string;
}

/** The labels of a series, by name. */
export type Labels = Readonly<Record<string, string>>;

/** The time after which a reading ends. */
const READING_MILLIS = 30_000;

/** Begins a reading of a server. After 30 s its requests fail with a `SourceError`. */
export function asking({ client, ...server }: TrainingServer): TrainingServer {
  return { ...server, client: client.within(AbortSignal.timeout(READING_MILLIS)) };
}

/** Returns the selector of a series of a run's cluster. */
export function selectorFor(
  { clusterLabel }: TrainingServer,
  { cluster }: Run,
  name: string,
  matchers: readonly Matcher[],
): string {
  return selectorOf([
    { label: "__name__", is: "=", value: name },
    ...(clusterLabel === undefined ? [] : [{ label: clusterLabel, is: "=", value: cluster } as const]),
    ...matchers,
  ]);
}

/** Returns the matcher of a label that has one of some values. */
export function isOneOf(label: string, values: readonly string[]): Matcher {
  const escaped = [...new Set(values)].map((value) => value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return { label, is: "=~", value: escaped.join("|") };
}

/** Returns the first of some labels that has a value; the last one if none has. */
export function labelOf(labels: Labels, names: readonly string[]): string {
  return names.find((name) => (labels[name] ?? "") !== "") ?? names.at(-1)!;
}

/** Returns the value of the first of some labels that has one; empty if none has. */
export function valueOf(labels: Labels, names: readonly string[]): string {
  return labels[labelOf(labels, names)] ?? "";
}
