import { MINUTE_MILLIS } from "../../../domain/time.ts";
import type { OwnerReference } from "../../../domain/workload.ts";
import { pause } from "../../../runtime/clock.ts";
import { ApiError } from "../api/api-error.ts";
import { createApiBackOff } from "../api/api-back-off.ts";
import type { ApiConnection } from "../api/connection.ts";
import { pathOf } from "../api/resource.ts";
import type { KubeMetadata } from "../projection/kube-object.ts";
import type { KnownOwner, OwnerLookup } from "./chain.ts";
import { given, wholeNumber } from "../projection/wire.ts";
import { groupOf, type OwnerKinds } from "./kinds.ts";

/** A cache of owners, with a function to read more. */
export interface OwnerCache {
  /** Returns the cached owner; undefined if it was not read, no longer exists, or may not be read. */
  readonly lookup: OwnerLookup;
  /** Reads an owner unless it is cached. A failure to read it is cached too. */
  fetch(reference: OwnerReference, namespace: string): Promise<void>;
  /** Returns whether a read could give new information. */
  isUnknown(reference: OwnerReference, namespace: string): boolean;
}

/** The media type for the metadata of an object only (https://kubernetes.io/docs/reference/using-api/api-concepts/). */
const METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/** The media type for a whole object. */
const WHOLE = "application/json";

const TIMEOUT_MILLIS = 10_000;
/** The lifetime of a cache entry. Labels of owners rarely change, and a forbidden owner may be allowed later. */
const KNOWN_MILLIS = 10 * MINUTE_MILLIS;
/** A valid path segment. Servers keep the text of a reference as it was sent. */
const NAME = /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/;
const MOST_OWNERS = 50_000;
const MOST_TRIES = 5;
/** The retries of a forbidden read. A server that is starting forbids everything for a moment. */
const MOST_TRIES_FORBIDDEN = 3;

/** The fields of an owner that are read. Only a Job has a spec here. */
interface OwnerObject {
  readonly metadata?: KubeMetadata;
  readonly spec?: { readonly activeDeadlineSeconds?: number | null } | null;
}

interface Entry {
  readonly owner: KnownOwner | undefined;
  readonly untilMillis: number;
}

/** The dependencies of the cache. */
export interface OwnerCacheOptions {
  readonly api: ApiConnection;
  readonly kinds: OwnerKinds;
  readonly monotonicMillis: () => number;
  readonly onForbidden: (group: string, resource: string) => void;
  readonly onRead: (group: string, resource: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Creates a cache that reads only the metadata of pods' owners, only when a pod needs them, and each once. Of Jobs it also reads the deadline. An object with the same name and
 * another UID is not the owner: the owner no longer exists. `onForbidden` gets each resource that may not be read, `onRead` each that was
 * read.
 */
export function createOwnerCache(options: OwnerCacheOptions): OwnerCache {
  const { api, kinds, monotonicMillis, onForbidden, onRead, signal } = options;
  const entries = new Map<string, Entry>();
  const running = new Map<string, Promise<void>>();
  /** Kinds that may not be read. They are requested only once. */
  const forbidden = new Set<string>();

  function entryOf(key: string): Entry | undefined {
    const entry = entries.get(key);
    return entry === undefined || entry.untilMillis < monotonicMillis() ? undefined : entry;
  }

  async function read(reference: OwnerReference, namespace: string): Promise<KnownOwner | undefined> {
    const kind = kinds.find(reference);
    if (kind === undefined) return undefined;
    const { group } = kind;
    const version =
      group === "" ? reference.apiVersion : reference.apiVersion.slice(groupOf(reference.apiVersion).length + 1);
    if (!NAME.test(version) || !NAME.test(reference.name)) return undefined;
    const isJob = group === "batch" && kind.kind === "Job";
    const { metadata, spec } = await api.json<OwnerObject>({
      path: pathOf({ group, version, plural: kind.resource, kind: kind.kind }, { namespace, name: reference.name }),
      accept: isJob ? WHOLE : METADATA_ONLY,
      silenceMillis: TIMEOUT_MILLIS,
      signal,
    });
    forbidden.delete(`${group}/${kind.resource}`);
    onRead(group, kind.resource);
    return metadata === undefined || (reference.uid !== "" && metadata.uid !== reference.uid)
      ? undefined
      : keptOf(metadata, spec);
  }

  async function readPatiently(reference: OwnerReference, namespace: string): Promise<Entry["owner"]> {
    const backOff = createApiBackOff();
    for (let tries = 1; ; tries++) {
      try {
        return await read(reference, namespace);
      } catch (error) {
        if (signal.aborted || !(error instanceof ApiError)) return undefined;
        const { group, resource } = kinds.find(reference)!;
        const isDoubtful = error.code === "forbidden" && !forbidden.has(`${group}/${resource}`);
        if (error.code === "forbidden" && (!isDoubtful || tries === MOST_TRIES_FORBIDDEN)) {
          forbidden.add(`${group}/${resource}`);
          onForbidden(group, resource);
          return undefined;
        }
        if (!(error.retriable || isDoubtful) || tries === MOST_TRIES) return undefined;
        await pause(backOff.next(error.retryAfterMillis), signal);
      }
    }
  }

  return {
    lookup: (reference, namespace) => entryOf(keyOf(reference, namespace))?.owner,
    isUnknown: (reference, namespace) =>
      kinds.find(reference) !== undefined && entryOf(keyOf(reference, namespace)) === undefined,
    async fetch(reference, namespace) {
      const key = keyOf(reference, namespace);
      if (entryOf(key) !== undefined) return;
      const other = running.get(key);
      if (other !== undefined) return await other;
      const reading = readPatiently(reference, namespace).then((owner) => {
        if (entries.size >= MOST_OWNERS) entries.clear();
        entries.set(key, { owner, untilMillis: monotonicMillis() + KNOWN_MILLIS });
        running.delete(key);
      });
      running.set(key, reading);
      await reading;
    },
  };
}

/**
 * Returns the cache key. It contains the namespace: a pod that names the UID of an object in another namespace does not belong to that
 * object.
 */
function keyOf({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): string {
  return JSON.stringify([groupOf(apiVersion), kind, namespace, name, uid]);
}

/** Returns the cached part of the metadata. Managed fields and kubectl's copy of the object, which are most of it, are dropped. */
function keptOf({ ownerReferences, labels, annotations }: KubeMetadata, spec: OwnerObject["spec"]): KnownOwner {
  const { "kubectl.kubernetes.io/last-applied-configuration": _, ...rest } = annotations ?? {};
  const deadlineSeconds = wholeNumber(spec?.activeDeadlineSeconds);
  return {
    ownerReferences: ownerReferences ?? null,
    labels: labels ?? null,
    annotations: rest,
    ...given({ deadlineSeconds }),
  };
}
