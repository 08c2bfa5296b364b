import type { FactOrigin } from "../../../domain/fact.ts";
import type { Marks } from "../../../domain/marks.ts";
import type { Gang, PodTimes, WorkloadFact } from "../../../domain/workload.ts";
import { RESTARTABLE_LABEL } from "../../../domain/advice/rules/spot.ts";
import { EXEMPT_MARK } from "../../../domain/practice/exempt.ts";
import { readTrainingMarks } from "../../../domain/training-marks.ts";
import { resolveOwners, type KnownOwner, type OwnerLookup } from "../owners/chain.ts";
import type { OwnerKinds } from "../owners/kinds.ts";
import { TYPE_LABEL, workloadType } from "../owners/type.ts";
import { workloadName } from "../owners/workload-name.ts";
import type { ResourceNames } from "./gpu-resource.ts";
import { readAsks } from "./pod/asks.ts";
import { checkpointsOf } from "./pod/checkpoints.ts";
import { readPodCompute } from "./pod/compute.ts";
import { readReservation, RESERVATION_NAMESPACES } from "./pod/fraction.ts";
import { gangOf, queueOf } from "./pod/gang.ts";
import { unpinnedImages } from "./pod/images.ts";
import { readEnd, readPending } from "./pod/outcome.ts";
import { readTimes, statusesOf } from "./pod/pod-times.ts";
import type { PodObject } from "./pod-object.ts";
import type { Remark } from "./remark.ts";
import { unmeteredRemarks, unreadShares } from "./unmetered.ts";
import { given, named, objects, text, texts, wholeNumber } from "./wire.ts";

/** The options for the projection of pods: configuration, and lookups of other objects. */
export interface PodOptions {
  readonly kinds: OwnerKinds;
  readonly lookup: OwnerLookup;
  /** Names of labels and annotations to keep. A name that ends in `*` keeps all with that prefix. */
  readonly labels?: readonly string[];
  readonly annotations?: readonly string[];
  /** Labels with which users set a workload's type; {@link TYPE_LABEL} by default. */
  readonly typeLabels?: readonly string[];
  /** Resource names from the configuration. */
  readonly resourceNames?: ResourceNames;
  readonly reservationNamespaces?: readonly string[];
  /** Returns whether a claim is for GPUs; undefined if unknown. */
  readonly isForGpus?: (namespace: string, claim: string) => boolean | undefined;
  /** Returns the data of the gang's own object. */
  readonly gangFacts?: (gang: Gang, namespace: string) => GangFacts | undefined;
  /** Returns the names of the PodDisruptionBudgets that select a pod; undefined if they are unknown. */
  readonly disruptionBudgets?: (pod: PodObject) => readonly string[] | undefined;
}

/** The data in a PodGroup, Workload, LeaderWorkerSet or JobSet that its pods do not have. Times are in milliseconds since the epoch. */
export interface GangFacts {
  readonly size?: number;
  readonly queue?: string;
  readonly queued?: number;
  readonly admitted?: number;
}

/** A workload fact without its origin and end, which the watcher adds, and the remarks on the pod. */
export interface PodProjection {
  readonly fact: Omit<WorkloadFact, keyof FactOrigin | "end">;
  readonly remarks: readonly Remark[];
}

/**
 * Projects a pod. Undefined if it requests no GPU in any regime and reserves none for others. A reservation pod requests nothing: the pods
 * of its group hold the GPU. Never throws, whatever the pod contains.
 */
export function projectPod(pod: PodObject, options: PodOptions): PodProjection | undefined {
  const remarks: Remark[] = [];
  const { metadata, spec, status } = pod;
  const reservation = readReservation(pod, options.reservationNamespaces ?? RESERVATION_NAMESPACES, remarks);
  const { asks, evidence } =
    reservation === undefined
      ? readAsks(
          pod,
          { isForGpus: options.isForGpus ?? (() => undefined), ...given({ names: options.resourceNames }) },
          remarks,
        )
      : { asks: [], evidence: reservation };
  remarks.push(...unmeteredOf(pod, options.resourceNames));
  if (reservation === undefined && asks.length === 0) return undefined;

  const name = text(metadata?.name) ?? "";
  const namespace = text(metadata?.namespace) ?? "";
  const labels = texts(metadata?.labels);
  const annotations = texts(metadata?.annotations);
  const chain = resolveOwners(metadata?.ownerReferences, options.lookup, options.kinds, namespace);
  const ofOwners = chain.known.map((owner) => ({ labels: texts(owner.labels), annotations: texts(owner.annotations) }));
  const maps = [labels, annotations, ...ofOwners.flatMap((owner) => [owner.labels, owner.annotations])];
  const { type } = workloadType(
    { owners: chain.owners, labels, overrides: maps },
    options.kinds,
    options.typeLabels ?? [TYPE_LABEL],
  );
  const ownMarks = kept([{ labels, annotations }], options);
  const ownerMarks = kept(ofOwners, options);
  const gang = gangOf(pod);
  const gangFacts = gang === undefined ? undefined : options.gangFacts?.(gang, namespace);
  const times: PodTimes = {
    ...readTimes(pod, remarks),
    ...given({ queued: gangFacts?.queued, admitted: gangFacts?.admitted }),
  };
  const phase = status?.phase;
  return {
    remarks,
    fact: {
      uid: text(metadata?.uid) ?? "",
      namespace,
      name,
      node: text(spec?.nodeName) ?? "",
      owners: chain.owners,
      ownersTruncated: chain.truncated,
      workload: workloadName({ name, labels }, chain.owners, chain.truncated),
      type,
      phase:
        phase === "Pending" || phase === "Running" || phase === "Succeeded" || phase === "Failed" ? phase : "Unknown",
      times,
      restarts: statusesOf(pod).reduce((sum, { restartCount }) => sum + (wholeNumber(restartCount) ?? 0), 0),
      asks,
      evidence,
      labels: { ...ownerMarks.labels, ...ownMarks.labels },
      annotations: { ...ownerMarks.annotations, ...ownMarks.annotations },
      marks: { pod: ownMarks, owners: ownerMarks },
      nodeSelector: texts(spec?.nodeSelector),
      tolerations: tolerationsOf(pod),
      compute: readPodCompute(spec),
      unpinnedImages: unpinnedImages(spec),
      checkpoints: checkpointsOf(pod),
      ...given({
        deadlineSeconds: deadlineOf(pod, chain.known),
        disruptionBudgets: options.disruptionBudgets?.(pod),
        training: readTrainingMarks(Object.assign({}, ...maps.toReversed()) as Marks["annotations"]),
        endReason: readEnd(pod),
        pending: readPending(pod),
        queue: queueOf(maps) ?? gangFacts?.queue,
        priorityClass: text(spec?.priorityClassName) ?? labels["kueue.x-k8s.io/priority-class"],
        gang: gang === undefined ? undefined : { ...gang, size: gang.size === 0 ? (gangFacts?.size ?? 0) : gang.size },
      }),
    },
  };
}

/**
 * Returns remarks for requested resources that look like GPUs and are not metered, and for annotations that look like shares of GPUs and are not
 * read, once for each. Also for pods without a workload fact.
 */
export function unmeteredOf({ metadata, spec }: PodObject, names: ResourceNames | undefined): readonly Remark[] {
  const containers = [...objects(spec?.initContainers), ...objects(spec?.containers)];
  const asked = containers.map(({ resources }) => ({ ...resources?.requests, ...resources?.limits }));
  return [
    ...unmeteredRemarks("Its request", Object.assign({}, ...asked) as Record<string, unknown>, names),
    ...unreadShares(texts(metadata?.annotations)),
  ];
}

/** The labels and annotations that are kept whatever the configuration names: for the checks of practices, and for advice. */
const ALWAYS_KEPT = [EXEMPT_MARK, RESTARTABLE_LABEL];

/** Returns the labels and annotations to keep, each from the nearest object that has it. */
function kept(nearestFirst: readonly Marks[], options: PodOptions): Marks {
  const labels = [...(options.labels ?? []), ...ALWAYS_KEPT];
  const annotations = [...(options.annotations ?? []), ...ALWAYS_KEPT];
  const furthestFirst = nearestFirst.toReversed();
  return {
    labels: Object.assign({}, ...furthestFirst.map((each) => named(each.labels, labels))) as Marks["labels"],
    annotations: Object.assign(
      {},
      ...furthestFirst.map((each) => named(each.annotations, annotations)),
    ) as Marks["labels"],
  };
}

/** Returns the deadline of a pod, or else of the nearest owner that has one. */
function deadlineOf({ spec }: PodObject, owners: readonly KnownOwner[]): number | undefined {
  return (
    wholeNumber(spec?.activeDeadlineSeconds) ??
    owners.find(({ deadlineSeconds }) => deadlineSeconds !== undefined)?.deadlineSeconds
  );
}

function tolerationsOf(pod: PodObject): readonly string[] {
  const keys = objects(pod.spec?.tolerations).flatMap(
    ({ key, operator }) => text(key) ?? (operator === "Exists" ? ["*"] : []),
  );
  return [...new Set(keys)].sort();
}
