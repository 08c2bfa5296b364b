import { setTimeout as pause } from "node:timers/promises";
import { SAMPLES_TOPIC } from "../../../domain/messages/topics.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../../domain/time.ts";
import type { Bus } from "../../../runtime/bus/bus.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { KubeStateImportOptions } from "../kube-state/import.ts";
import { createPodPlaces, type PodPlaces } from "../kube-state/pod-places.ts";
import type { ImportRemark } from "../kube-state/remarks.ts";
import type { PrometheusClient } from "../read/client.ts";
import type { SampleSource } from "../read/source.ts";
import type { Span } from "../read/samples.ts";
import type { Matcher } from "../read/wire.ts";
import { readBacklog, readCollectedMinutes, readWatchedSince } from "./collected.ts";
import { findFamilies, findValues, named, ofInstances } from "./discover.ts";
import { importFacts } from "./facts.ts";
import type { Progress } from "./progress.ts";
import { readRuns } from "./read-runs.ts";
import { importSamples, type SampleCounts } from "./samples.ts";
import { createImportedScrapes } from "./scrapes.ts";
import { ofJobs, type Survey } from "./survey.ts";

/** The dependencies of an import. */
export interface ImportOptions {
  readonly client: PrometheusClient;
  readonly source: SampleSource;
  readonly survey: Survey;
  /** The conditions on all series, such as the cluster's label in a server of several clusters. */
  readonly conditions: readonly Matcher[];
  readonly kube: Pick<KubeStateImportOptions, "cluster" | "projection" | "knownLabels">;
  readonly bus: Pick<Bus, "send" | "watermarks">;
  readonly store: StoreClient;
  /** The most messages on the bus that processors have not stored. */
  readonly mostBacklog: number;
  readonly progress: Progress;
  readonly events: ImportEvents;
  readonly signal: AbortSignal;
}

/** The events of an import, for its output. */
export interface ImportEvents {
  onFacts(kind: string, objects: number): void;
  onReached(untilMillis: number, counts: SampleCounts): void;
  /** Called while the import waits for the processors, with the number of messages that they have not stored. */
  onWaiting(backlog: number): void;
}

/** The result of an import. */
export interface Imported {
  readonly counts: SampleCounts;
  /** Data that kube-state-metrics did not export. Empty if the facts were sent by an earlier run. */
  readonly remarks: readonly ImportRemark[];
}

/** A gap of kube-state-metrics hardly matters for the place of a pod. */
const PLACE_GAP_MILLIS = HOUR_MILLIS;
/** The most addresses in one regular expression. */
const MOST_ADDRESSES = 1000;

const WAIT_MILLIS = 2_000;
const STUCK_MILLIS = 5 * MINUTE_MILLIS;

/** The processors store nothing, so that further messages would fill the bus. */
export class StuckError extends Error {
  constructor(backlog: number) {
    super(
      `the processors have stored none of ${backlog} messages for ${STUCK_MILLIS / MINUTE_MILLIS} min; the same command continues once they run`,
    );
    this.name = "StuckError";
  }
}

/**
 * Imports a span: first the facts of Kubernetes, which the samples are joined to, then the samples. The facts of nodes end where a watcher
 * of the cluster began, and the samples leave out the minutes of collectors. An import that was interrupted continues after its last window.
 * Fails with a `SourceError`, a {@link StuckError}, a `BusError` or a `StoreError`.
 */
export async function importSpan(options: ImportOptions, span: Span): Promise<Imported> {
  const { client, source, survey, conditions, kube, bus, store, progress, events, signal } = options;
  const { names } = survey;
  let remarks: readonly ImportRemark[] = [];
  if (progress.reachedMillis === undefined && names.all.has("kube_node_info")) {
    const watchedSince = await readWatchedSince(store, kube.cluster);
    const ofFacts = { ...span, untilMillis: Math.min(span.untilMillis, watchedSince) };
    if (ofFacts.fromMillis < ofFacts.untilMillis) {
      remarks = await importFacts(
        {
          client,
          source,
          names: names.all,
          conditions,
          kube,
          async send(messages) {
            for (const topic of new Set(messages.map((message) => message.topic)))
              await bus.send(
                topic,
                messages.filter((message) => message.topic === topic),
              );
          },
          onSent: (kind, objects) => events.onFacts(kind, objects),
          signal,
        },
        ofFacts,
      );
    }
    progress.reach(span.fromMillis);
  }
  const rest = { ...span, fromMillis: progress.reachedMillis ?? span.fromMillis };
  const matchers = [named([...names.gpu, "up"]), ofJobs(survey.allJobs), ...conditions];
  const places = await readPlaces(options, matchers, span);
  const scrapes = createImportedScrapes({
    cluster: kube.cluster,
    families: await findFamilies(client).catch(() => new Map()),
    exportedJobs: new Set(
      await findValues(client, "job", [...matchers, { label: "exported_pod", is: "!=", value: "" }], span),
    ),
    nodeOfPod: (pod, atMillis) => places.nodeOfPod(pod, atMillis),
  });
  const { series, intervalMillis } = survey.gpu;
  const counts = await importSamples(
    {
      client,
      source,
      scrapes,
      matchers,
      expected: { series, samplesPerMinute: MINUTE_MILLIS / intervalMillis },
      collected: (window) => readCollectedMinutes(store, kube.cluster, window),
      send: (messages) => bus.send(SAMPLES_TOPIC, messages),
      async onReached(untilMillis, soFar) {
        progress.reach(untilMillis);
        events.onReached(untilMillis, soFar);
        await untilStored(options);
      },
      signal,
    },
    rest,
  );
  return { counts, remarks };
}

/**
 * Waits until the processors have stored most messages. The bus removes messages by age and size, whether they are stored or not. Fails if the
 * processors store nothing.
 */
async function untilStored({ store, bus, mostBacklog, events, signal }: ImportOptions): Promise<void> {
  let [least, since] = [Infinity, Date.now()];
  for (;;) {
    const backlog = await readBacklog(store, bus);
    if (backlog <= mostBacklog) return;
    if (backlog < least) [least, since] = [backlog, Date.now()];
    else if (Date.now() - since > STUCK_MILLIS) throw new StuckError(backlog);
    events.onWaiting(backlog);
    await pause(WAIT_MILLIS, undefined, { signal });
  }
}

/** Reads where the exporters' pods were. Exporters are known by the address of the target. */
async function readPlaces(
  { client, source, survey, conditions }: ImportOptions,
  matchers: readonly Matcher[],
  span: Span,
): Promise<PodPlaces> {
  const places = createPodPlaces();
  const take = async (of: readonly Matcher[]): Promise<void> => {
    for (const series of await readRuns({ client, source }, [...of, ...conditions], span, PLACE_GAP_MILLIS))
      places.take(series);
  };
  if (survey.names.all.has("kube_node_info")) await take([named(["kube_node_info"])]);
  if (!survey.names.all.has("kube_pod_info")) return places;
  const hosts = (await findValues(client, "instance", matchers, span)).map((instance) => instance.replace(/:\d+$/, ""));
  const addresses = [...new Set(hosts)];
  for (let first = 0; first < addresses.length; first += MOST_ADDRESSES) {
    const isAt = { ...ofInstances(addresses.slice(first, first + MOST_ADDRESSES)), label: "pod_ip" };
    await take([named(["kube_pod_info"]), isAt]);
  }
  return places;
}
