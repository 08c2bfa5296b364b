import { LOOPBACK, type DemoAddress } from "../../address.ts";
import { createAccess, type Access } from "./access.ts";
import { createHandler } from "./handler.ts";
import { createListener } from "./listener.ts";
import { storedObject, type KubernetesObject } from "./object.ts";
import { createRequestLog, type RequestLog } from "./request-log.ts";
import {
  ADDED_RESOURCES,
  BUILT_IN_RESOURCES,
  createCatalog,
  resourceId,
  type ApiResource,
  type ResourceCatalog,
} from "./resources.ts";
import { createStore, keyOf, type ObjectStore } from "./store.ts";
import { createTroubles, type Troubles } from "./troubles.ts";
import { goneEvent, type OpenWatch } from "./watch.ts";

/** The identity of an object to delete. */
export type ObjectName = Pick<KubernetesObject, "apiVersion" | "kind"> & {
  readonly metadata: Pick<KubernetesObject["metadata"], "name" | "namespace">;
};

/** An API server of Kubernetes for watchers: the complete protocol, without admission and controllers. */
export interface ApiServer {
  readonly url: string;
  readonly store: ObjectStore;
  readonly catalog: ResourceCatalog;
  readonly access: Access;
  readonly troubles: Troubles;
  readonly requests: RequestLog;
  /** Creates or replaces an object. Its resource must be installed. Returns the resourceVersion. */
  put(object: KubernetesObject): string;
  /** Deletes an object. Returns `false` if there was none. */
  delete(object: ObjectName): boolean;
  install(resources: readonly ApiResource[]): void;
  /** Removes an API group with its objects. Its watches end. */
  remove(group: string): void;
  /** Serves a group in another version from now on, and no longer in the former one. The watches of the former version end. */
  serveAs(group: string, version: string): void;
  /** Restores the database as of a version: versions go back, every watch ends. */
  restore(resourceVersion: number): void;
  /** Returns the number of open watches, of one resource (`pods`, `batch/jobs`) or of all. */
  openWatches(resource?: string): number;
  /** Ends open watches like a server after the watch timeout. */
  endWatches(resource?: string): void;
  /** Sends open watches that their version is gone (an ERROR event of code 410), and ends them. */
  expireWatches(resource?: string): void;
  /** Cuts open watches after the given number of further bytes. */
  cutWatches(afterBytes?: number, resource?: string): void;
  /** Makes open watches silent forever. Later watches are not affected. */
  silenceWatches(resource?: string): void;
  /** Writes invalid bytes into open watches. */
  spoilWatches(bytes: string | Buffer, resource?: string): void;
  /** Stops the server: its port refuses connections, and every connection is cut. Its objects stay. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server on a free port, by default of 127.0.0.1. */
export async function startApiServer(
  options: {
    readonly resources?: readonly ApiResource[];
    readonly now?: () => number;
    readonly bookmarkMillis?: number;
    readonly user?: string;
    /** The number of kept changes. Versions before them are too old. */
    readonly keptEvents?: number;
    readonly address?: DemoAddress;
  } = {},
): Promise<ApiServer> {
  const { resources = [...BUILT_IN_RESOURCES, ...ADDED_RESOURCES], now = Date.now, bookmarkMillis = 60_000 } = options;
  const catalog = createCatalog(resources);
  const store = createStore(options.keptEvents === undefined ? {} : { keptEvents: options.keptEvents });
  const access = createAccess(catalog, options.user ?? "system:serviceaccount:gpu-ledger:collector");
  const troubles = createTroubles();
  const requests = createRequestLog();
  const watches = new Set<OpenWatch>();
  const handle = createHandler({ store, catalog, access, troubles, requests, watches, now, bookmarkMillis });
  const { listen, host } = options.address ?? LOOPBACK;
  const listener = createListener(listen, handle);
  await listener.open();

  function watchesOf(resource: string | undefined): OpenWatch[] {
    return [...watches].filter((watch) => resource === undefined || resourceId(watch.resource) === resource);
  }

  return {
    get url() {
      return `http://${host}:${listener.port}`;
    },
    store,
    catalog,
    access,
    troubles,
    requests,
    put(object) {
      const resource = catalog.byKind(object.apiVersion, object.kind);
      return String(store.put(resourceId(resource), storedObject(object)).resourceVersion);
    },
    delete({ apiVersion, kind, metadata: { name, namespace = "" } }) {
      return store.delete(resourceId(catalog.byKind(apiVersion, kind)), keyOf({ name, namespace }));
    },
    install: (more) => catalog.install(more),
    remove(group) {
      for (const resource of catalog.remove(group)) {
        const id = resourceId(resource);
        // A copy: a snapshot's keys are valid until the store changes.
        const keys = store.snapshot(id, store.resourceVersion).keys.slice();
        for (const key of keys) store.delete(id, key);
        for (const watch of watchesOf(id)) watch.close();
      }
    },
    serveAs(group, version) {
      const former = catalog.remove(group);
      catalog.install(former.map((resource) => ({ ...resource, version })));
      for (const resource of former) for (const watch of watchesOf(resourceId(resource))) watch.close();
    },
    restore(resourceVersion) {
      store.restore(resourceVersion);
      for (const watch of watches) watch.wire.cutAfter(0);
    },
    openWatches: (resource) => watchesOf(resource).length,
    endWatches(resource) {
      for (const watch of watchesOf(resource)) watch.close();
    },
    expireWatches(resource) {
      for (const watch of watchesOf(resource)) {
        void watch.wire.write(goneEvent());
        watch.close();
      }
    },
    cutWatches(afterBytes = 0, resource) {
      for (const watch of watchesOf(resource)) watch.wire.cutAfter(afterBytes);
    },
    silenceWatches(resource) {
      for (const watch of watchesOf(resource)) watch.wire.silence();
    },
    spoilWatches(bytes, resource) {
      for (const watch of watchesOf(resource)) void watch.wire.write(bytes);
    },
    goAway: () => listener.close(),
    comeBack: () => listener.open(),
    stop: () => listener.close(),
  };
}
