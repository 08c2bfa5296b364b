import { ApiError } from "../../collectors/kubernetes/api/api-error.ts";
import type { ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { nameOf, type ApiObject, type ApiResource } from "../../collectors/kubernetes/api/resource.ts";
import { findServed } from "../../collectors/kubernetes/api/served.ts";
import type { OwnerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import type { ResourceNames } from "../../collectors/kubernetes/projection/gpu-resource.ts";
import { listObjects } from "../../collectors/kubernetes/reflector/list.ts";
import { REFLECTOR_TIMING } from "../../collectors/kubernetes/reflector/timing.ts";
import { WATCHED_KINDS, withoutOwner } from "../../collectors/kubernetes/watcher/kinds.ts";
import { pause } from "../../runtime/clock.ts";
import { inTurns } from "../../runtime/in-turns.ts";
import type { SeenObject, Unseen } from "../seen.ts";
import type { ExporterPods } from "./exporter-pods.ts";
import { trimmed, trimmedNode, trimmedOwner, trimmedPod } from "./trim.ts";

/** The objects of a cluster, and the kinds that could not be listed. */
export interface SeenObjects {
  /** In the order of the watched kinds, with the owners before the pods. */
  readonly objects: readonly SeenObject[];
  readonly unseen: readonly Unseen[];
}

/** The parameters of the lists. */
export interface ObjectsOptions {
  readonly timeoutMillis: number;
  readonly signal: AbortSignal;
  readonly kinds: OwnerKinds;
  readonly resourceNames?: ResourceNames;
}

/** The media type for a list of metadata only (https://kubernetes.io/docs/reference/using-api/api-concepts/). */
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const LISTS_AT_ONCE = 6;
const MOST_TRIES = 3;
const FIRST_WAIT_MILLIS = 1_000;
const LONGEST_WAIT_MILLIS = 5_000;

interface ListedKind {
  readonly resource: ApiResource;
  readonly without: string;
  readonly accept?: string;
  readonly trim: (object: SeenObject) => SeenObject;
}

/** A list with its objects, or the error that ended it. */
type List = { readonly objects: readonly SeenObject[] } | { readonly error: ApiError };

/**
 * Lists the objects of every watched kind except Events, and of every kind of owner, that the server serves. Exporters are found among the
 * listed pods. A kind that cannot be listed is unseen. Fails with an `ApiError` if the server cannot be used, or if neither nodes nor pods
 * can be listed.
 */
export async function seeObjects(
  api: ApiConnection,
  exporters: ExporterPods,
  options: ObjectsOptions,
): Promise<SeenObjects> {
  const kinds = await kindsOf(api, options);
  const lists = new Map<ListedKind, List>();
  // Pods come last in the result. Their list takes the longest, so it is the first to begin.
  await inTurns(kinds.toReversed(), LISTS_AT_ONCE, async (kind) => {
    lists.set(kind, await list(api, kind, isPods(kind) ? exporters : undefined, options));
  });
  const failed = kinds.flatMap((kind) => {
    const of = lists.get(kind)!;
    return "error" in of ? [{ kind, error: of.error }] : [];
  });
  const [nodes, pods] = ["nodes", "pods"].map(
    (name) => failed.find(({ kind }) => nameOf(kind.resource) === name)?.error,
  );
  if (nodes !== undefined && pods !== undefined) {
    throw nodes.code === "forbidden" && pods.code === "forbidden" ? nothingToSee() : pods;
  }
  if (pods !== undefined) await findExporters(api, exporters, options);
  return {
    objects: kinds.flatMap((kind) => {
      const of = lists.get(kind)!;
      return "error" in of ? [] : of.objects;
    }),
    unseen: failed.map(({ kind, error }) => ({
      what: nameOf(kind.resource),
      why: error.code === "forbidden" ? "permission to list in the whole cluster is missing" : error.message,
      without: kind.without,
    })),
  };
}

function nothingToSee(): ApiError {
  const message = [
    "permission to list nodes and pods in the whole cluster is missing. Check it with:",
    "  kubectl auth can-i list nodes",
    "  kubectl auth can-i list pods --all-namespaces",
  ].join("\n");
  return new ApiError("forbidden", message, { status: 403 });
}

function isPods({ resource }: ListedKind): boolean {
  return nameOf(resource) === "pods";
}

/** Returns the served kinds: the watched ones without Events, the owners before the pods. */
async function kindsOf(api: ApiConnection, options: ObjectsOptions): Promise<readonly ListedKind[]> {
  const { kinds: owners, resourceNames } = options;
  const watched = WATCHED_KINDS.filter(({ kind }) => kind !== "Event").map(({ group, resource, kind, without }) => ({
    resource: { group, version: "v1", plural: resource, kind },
    without,
    trim:
      kind === "Pod" ? (pod: SeenObject) => trimmedPod(pod, resourceNames) : kind === "Node" ? trimmedNode : trimmed,
  }));
  const names = new Set(watched.map(({ resource }) => nameOf(resource)));
  const owning = owners.all
    .map((owner): ListedKind => {
      const { group, resource, kind } = owner;
      const isJob = group === "batch" && kind === "Job";
      return {
        resource: { group, version: "v1", plural: resource, kind },
        without: withoutOwner(owner),
        trim: trimmedOwner,
        ...(isJob ? {} : { accept: METADATA_ONLY }),
      };
    })
    .filter(({ resource }) => !names.has(nameOf(resource)));
  const all: readonly ListedKind[] = [...watched.slice(0, -1), ...owning, ...watched.slice(-1)];
  const served = await findServed(api, new Set(all.map(({ resource }) => resource.group)), options);
  return all.flatMap((kind): readonly ListedKind[] => {
    if (kind.resource.group === "") return [kind];
    const version = served.get(nameOf(kind.resource));
    return version === undefined ? [] : [{ ...kind, resource: { ...kind.resource, version } }];
  });
}

async function list(
  api: ApiConnection,
  { resource, accept, trim }: ListedKind,
  exporters: ExporterPods | undefined,
  options: ObjectsOptions,
): Promise<List> {
  const { group, version, kind } = resource;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  let objects: SeenObject[] = [];
  const error = await deliver(api, resource, options, {
    ...(accept === undefined ? {} : { accept }),
    onStart() {
      objects = [];
      exporters?.start();
    },
    onObject(object) {
      exporters?.take(object);
      // Items of a list have no kind, or the one of their representation.
      objects.push(trim({ ...object, apiVersion, kind }));
    },
  });
  return error === undefined ? { objects } : { error };
}

/** Finds the exporters with lists of their labels. A server can answer those if the list of all pods is too large for it. */
async function findExporters(api: ApiConnection, exporters: ExporterPods, options: ObjectsOptions): Promise<void> {
  exporters.start();
  const pods: ApiResource = { group: "", version: "v1", plural: "pods", kind: "Pod" };
  for (const labelSelector of exporters.selectors) {
    await deliver(api, pods, options, {
      selectors: { labelSelector },
      // Pods that were delivered before are delivered again, and each counts once.
      onStart: () => {},
      onObject: exporters.take,
    });
  }
}

/** Lists objects, up to three times if the server is busy. Returns the error of the last attempt; undefined if there is none. */
async function deliver(
  api: ApiConnection,
  resource: ApiResource,
  { timeoutMillis, signal }: ObjectsOptions,
  how: {
    readonly selectors?: Readonly<Record<string, string>>;
    readonly accept?: string;
    readonly onStart: () => void;
    readonly onObject: (object: ApiObject) => void;
  },
): Promise<ApiError | undefined> {
  const timing = { ...REFLECTOR_TIMING, silenceMillis: timeoutMillis };
  const listing = { api, resource, selectors: {}, timing, signal, notOlderThan: "", streaming: false, ...how };
  for (let tries = 1; ; tries++) {
    try {
      await listObjects({ ...listing, onObject: (object) => Promise.resolve(how.onObject(object)) });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError) || error.code === "unauthorized") throw error;
      const isBusy = error.code === "too-many-requests" || error.code === "unavailable";
      if (!isBusy || tries === MOST_TRIES) return error;
      await pause(Math.min(error.retryAfterMillis ?? FIRST_WAIT_MILLIS, LONGEST_WAIT_MILLIS), signal);
    }
  }
}
