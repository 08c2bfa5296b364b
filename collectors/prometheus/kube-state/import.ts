import { IMPORTED_MARK } from "../../../domain/workload.ts";
import { FACT_SCHEMA_VERSION } from "../../../domain/messages/fact-message.ts";
import { BACKFILL_HEADER } from "../../../domain/messages/topics.ts";
import { IMPORT_COLLECTOR } from "../../../domain/scrape.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import type { OutgoingMessage } from "../../../runtime/bus/bus.ts";
import {
  READ_ANNOTATIONS,
  READ_LABELS,
  READ_NODE_ANNOTATIONS,
  READ_NODE_LABELS,
} from "../../kubernetes/projection/read-names.ts";
import {
  createFactRegistries,
  type FACT_TOPICS,
  type FactRegistries,
} from "../../kubernetes/watcher/fact-registries.ts";
import type { FactBody } from "../../kubernetes/watcher/fact-registry.ts";
import { createProjector } from "../../kubernetes/watcher/projector.ts";
import type { ProjectionOptions } from "../../kubernetes/watcher/projector-state.ts";
import { IMPORT_EPOCH } from "../origin.ts";
import { lacksImages } from "./imported-pod.ts";
import { createLabelReader } from "./label-name.ts";
import { importedNamespaces } from "./namespaces.ts";
import { importedNodes } from "./nodes.ts";
import { createImportedOwners } from "./owners.ts";
import { play, type Played } from "./play.ts";
import { importedPods } from "./pods.ts";
import { createPresence } from "./presence.ts";
import { importedQueues } from "./queues.ts";
import { createImportRemarks, type ImportRemark } from "./remarks.ts";
import { createResourceReader } from "./resource-name.ts";
import { createRowReader } from "./row.ts";
import type { SeriesRuns, Span } from "./runs.ts";

/** A message of an imported fact. */
export interface ImportedMessage extends OutgoingMessage {
  readonly topic: (typeof FACT_TOPICS)[number];
}

/** The configuration and the circumstances of an import. */
export interface KubeStateImportOptions {
  readonly cluster: string;
  /** The beginning of the import, milliseconds since the epoch. No fact is before it. */
  readonly fromMillis: number;
  /** The end of the import. Nodes that still exist then are known until then. */
  readonly untilMillis: number;
  /** The spans in which kube-state-metrics had samples, in order of time. */
  readonly seen: readonly Span[];
  /** The same of Kueue; by default those of kube-state-metrics. */
  readonly kueueSeen?: readonly Span[];
  /** The time between two samples. */
  readonly stepMillis: number;
  /** The watcher's own options. */
  readonly projection: ProjectionOptions;
  /** The names of labels and annotations in the configuration: those of owner rules, price entries and practices. */
  readonly knownLabels: readonly string[];
}

/**
 * Makes facts of the series of kube-state-metrics and Kueue. The owners come first, because the facts of pods depend on them. Series of one
 * object must come in one call; pods can come in parts. Each yielded list has the facts of one object, in order of time.
 */
export interface KubeStateImport {
  /** Takes the series of `OWNER_METRICS`. */
  takeOwners(series: Iterable<SeriesRuns>): void;
  /** Yields the facts of nodes from the series of `NODE_METRICS`. */
  nodes(series: Iterable<SeriesRuns>): AsyncGenerator<readonly ImportedMessage[]>;
  /** Yields the facts of namespaces, quotas and limit ranges from the series of `NAMESPACE_METRICS`. */
  namespaces(series: Iterable<SeriesRuns>): AsyncGenerator<readonly ImportedMessage[]>;
  /** Yields the facts of queues from the series of `KUEUE_METRICS`. */
  queues(series: Iterable<SeriesRuns>): AsyncGenerator<readonly ImportedMessage[]>;
  /** Yields the facts of GPU pods from the series of `POD_METRICS`. Pods without GPUs are ignored. */
  pods(series: Iterable<SeriesRuns>): AsyncGenerator<readonly ImportedMessage[]>;
  /** Returns the remarks on all series that were taken. */
  remarks(): readonly ImportRemark[];
}

/** Creates an import. The facts go through the watcher's own projection, so that they are those that a watcher would have sent. */
export function createKubeStateImport(options: KubeStateImportOptions): KubeStateImport {
  const { cluster, fromMillis, untilMillis, seen, stepMillis, projection, knownLabels } = options;
  const presence = createPresence(seen, stepMillis);
  const kueuePresence = createPresence(options.kueueSeen ?? seen, stepMillis);
  const resources = createResourceReader(projection.pods.resourceNames);
  const labels = createLabelReader(namesOf(options), resources);
  const remarks = createImportRemarks(knownLabels);
  const owners = createImportedOwners({ kinds: projection.pods.kinds, labels, remarks });
  const reader = createRowReader();
  const readers = { labels, resources, owners };
  let messages: ImportedMessage[] = [];
  const registries = createFactRegistries(
    cluster,
    { epoch: () => IMPORT_EPOCH, renew: () => {} },
    (topic, { key, value }) =>
      messages.push({
        topic,
        key,
        value,
        schemaVersion: FACT_SCHEMA_VERSION,
        headers: { [BACKFILL_HEADER]: IMPORT_COLLECTOR },
      }),
  );
  const projector = createProjector({
    registries: withoutUnknown(registries),
    owners,
    projection: {
      ...projection,
      pods: { ...projection.pods, annotations: [...(projection.pods.annotations ?? []), IMPORTED_MARK] },
    },
    onRemarks: (object, ofObject) => remarks.addProjected(object, ofObject),
    signal: new AbortController().signal,
  });
  const rowsOf = (series: Iterable<SeriesRuns>) => Array.from(series, (each) => reader.read(each));

  async function* facts(lives: Iterable<Played>): AsyncGenerator<readonly ImportedMessage[]> {
    for (const life of lives) {
      await play(projector, life, fromMillis);
      if (messages.length > 0) yield messages;
      messages = [];
    }
  }

  return {
    takeOwners(series) {
      for (const each of series) owners.take(reader.read(each));
    },
    async *nodes(series) {
      yield* facts(importedNodes(rowsOf(series), presence, readers, remarks));
      for (const { uid } of registries.inventory.living())
        registries.inventory.amend(uid, untilMillis, (fact) => ({ ...fact, knownUntil: untilMillis }));
      if (messages.length > 0) yield messages;
      messages = [];
    },
    namespaces: (series) => facts(importedNamespaces(rowsOf(series), presence, readers, remarks)),
    queues: (series) => facts(importedQueues(rowsOf(series), kueuePresence)),
    pods: (series) => facts(importedPods(rowsOf(series), presence, readers, remarks)),
    remarks: () => remarks.all(),
  };
}

/** Returns all names of labels and annotations that are restored. */
function namesOf({ projection, knownLabels }: KubeStateImportOptions): readonly string[] {
  const { pods, nodes } = projection;
  return [
    ...knownLabels,
    ...[pods.labels, pods.annotations, pods.typeLabels, nodes.labels].flatMap((names) => names ?? []),
    ...READ_LABELS,
    ...READ_ANNOTATIONS,
    ...READ_NODE_LABELS,
    ...READ_NODE_ANNOTATIONS,
  ];
}

/**
 * Returns registries that leave out what an object of series cannot show, although the projection has a value for it: without the arguments
 * of a pod, `checkpoints` would be none, and without an image, all images would be pinned.
 */
function withoutUnknown(registries: FactRegistries): FactRegistries {
  const { workloads } = registries;
  return {
    ...registries,
    workloads: {
      ...workloads,
      report(body, sight) {
        const { checkpoints, unpinnedImages, ...known } = body;
        const seen = {
          ...known,
          ...(checkpoints === "none" ? {} : { checkpoints }),
          ...(lacksImages(body.annotations) ? {} : { unpinnedImages }),
        };
        workloads.report(seen as FactBody<WorkloadFact>, sight);
      },
    },
  };
}
