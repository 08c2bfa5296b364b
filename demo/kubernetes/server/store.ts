import type { StoredObject } from "./object.ts";
import { addKey, indexOfKey, removeKey } from "./sorted-keys.ts";

/** An object from a resourceVersion on. */
export interface Version {
  readonly object: StoredObject;
  readonly resourceVersion: number;
}

/** One change: `before` is absent for a creation, `after` for a deletion. */
export interface StoreEvent {
  readonly resource: string;
  readonly key: string;
  readonly resourceVersion: number;
  readonly before?: Version;
  readonly after?: Version;
}

/** All objects of one resource at one moment, in the order of their keys. Valid until the store changes. */
export interface Snapshot {
  readonly keys: readonly string[];
  get(key: string): Version | undefined;
}

/** Objects with one growing resourceVersion, and the kept part of their changes. */
export interface ObjectStore {
  readonly resourceVersion: number;
  /** The oldest version that is still known. */
  readonly compactedVersion: number;
  get(resource: string, key: string): Version | undefined;
  /** Creates or replaces an object. Returns its new version. */
  put(resource: string, object: StoredObject): Version;
  /** Deletes an object. Returns `false` if there was none. */
  delete(resource: string, key: string): boolean;
  /** Returns the state at a version, which must not be older than {@link compactedVersion}. */
  snapshot(resource: string, resourceVersion: number): Snapshot;
  /** Returns the changes of a resource after a version, oldest first. */
  eventsSince(resource: string, resourceVersion: number): StoreEvent[];
  /** Drops the changes so far. */
  compact(): void;
  /** Restores the state at a version, which must not be older than {@link compactedVersion}. Followers get no event. */
  restore(resourceVersion: number): void;
  /** Calls with each change of a resource until the returned function is called. */
  follow(resource: string, listener: (event: StoreEvent) => void): () => void;
  count(resource: string): number;
}

/** Returns the key of an object, in etcd's order: the objects of a namespace are adjacent. */
export function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

interface Collection {
  readonly versions: Map<string, Version>;
  readonly keys: string[];
  readonly listeners: Set<(event: StoreEvent) => void>;
}

/** Creates an empty store with a limit of kept changes. As on real clusters, the first resourceVersion is not 1. */
export function createStore({ keptEvents = 20_000, firstVersion = 1000 } = {}): ObjectStore {
  const collections = new Map<string, Collection>();
  let history: StoreEvent[] = [];
  let resourceVersion = firstVersion;
  let compactedVersion = firstVersion;

  function collectionOf(resource: string): Collection {
    let collection = collections.get(resource);
    if (collection === undefined) {
      collection = { versions: new Map(), keys: [], listeners: new Set() };
      collections.set(resource, collection);
    }
    return collection;
  }

  function record(collection: Collection, event: StoreEvent): void {
    history.push(event);
    // Removed in larger pieces, so that a full history is not moved completely at each change.
    if (history.length > keptEvents * 1.25) {
      const cut = history.length - keptEvents;
      compactedVersion = history[cut - 1]!.resourceVersion;
      history = history.slice(cut);
    }
    for (const listener of collection.listeners) listener(event);
  }

  function firstAfter(version: number): number {
    let low = 0;
    let high = history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (history[middle]!.resourceVersion <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    get resourceVersion() {
      return resourceVersion;
    },
    get compactedVersion() {
      return compactedVersion;
    },
    get: (resource, key) => collectionOf(resource).versions.get(key),
    put(resource, object) {
      const collection = collectionOf(resource);
      const key = keyOf(object);
      const before = collection.versions.get(key);
      const after = { object, resourceVersion: ++resourceVersion };
      collection.versions.set(key, after);
      if (before === undefined) addKey(collection.keys, key);
      record(collection, { resource, key, resourceVersion, ...(before === undefined ? {} : { before }), after });
      return after;
    },
    delete(resource, key) {
      const collection = collectionOf(resource);
      const before = collection.versions.get(key);
      if (before === undefined) return false;
      collection.versions.delete(key);
      removeKey(collection.keys, key);
      record(collection, { resource, key, resourceVersion: ++resourceVersion, before });
      return true;
    },
    snapshot(resource, version) {
      const { keys, versions } = collectionOf(resource);
      const former = new Map<string, Version | undefined>();
      for (let i = firstAfter(version); i < history.length; i++) {
        const event = history[i]!;
        if (event.resource === resource && !former.has(event.key)) former.set(event.key, event.before);
      }
      if (former.size === 0) return { keys, get: (key) => versions.get(key) };
      const past = keys.filter((key) => !former.has(key) || former.get(key) !== undefined);
      for (const [key, before] of former) if (before !== undefined) addKey(past, key);
      return { keys: past, get: (key) => (former.has(key) ? former.get(key) : versions.get(key)) };
    },
    eventsSince(resource, version) {
      return history.slice(firstAfter(version)).filter((event) => event.resource === resource);
    },
    compact() {
      history = [];
      compactedVersion = resourceVersion;
    },
    restore(version) {
      for (const event of history.slice(firstAfter(version)).toReversed()) {
        const { versions, keys } = collectionOf(event.resource);
        if (event.before === undefined) {
          versions.delete(event.key);
          removeKey(keys, event.key);
        } else {
          if (!versions.has(event.key)) addKey(keys, event.key);
          versions.set(event.key, event.before);
        }
      }
      history = history.slice(0, firstAfter(version));
      resourceVersion = version;
    },
    follow(resource, listener) {
      const { listeners } = collectionOf(resource);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    count: (resource) => collectionOf(resource).versions.size,
  };
}

/** Returns the range of a namespace's keys, half-open; of all keys if the namespace is empty. */
export function rangeOf(keys: readonly string[], namespace: string): readonly [from: number, until: number] {
  if (namespace === "") return [0, keys.length];
  // "0" is the character behind "/".
  return [indexOfKey(keys, `${namespace}/`), indexOfKey(keys, `${namespace}0`)];
}
