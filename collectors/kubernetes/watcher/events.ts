import type { ApiError } from "../api/api-error.ts";
import type { KubeObject } from "../projection/kube-object.ts";
import type { Remark } from "../projection/remark.ts";

/** What happens to the watcher of a cluster, for metrics and logs. Resources are named as kubectl names them. */
export interface WatcherEvents {
  /** This collector watches the cluster from now on. */
  onElected(epoch: number): void;
  onDeposed(): void;
  onElectionError(error: unknown): void;
  /** What the server serves was read. */
  onLooked(): void;
  onListed(resource: string, objects: number): void;
  onWatchEvent(resource: string, type: string): void;
  onWatchTaken(resource: string): void;
  onWatchEnded(resource: string, why: string): void;
  /** The server's versions have gone back, as after a restore of its database: everything is listed and said again. */
  onVersionsBack(resource: string): void;
  /** It is tried again after `againInMillis`. */
  onError(resource: string, error: ApiError, againInMillis: number): void;
  /** Something may not be done; told once until it may. `without` ends a sentence that begins with "without it". */
  onForbidden(missing: MissingPermission): void;
  onAllowed(missing: MissingPermission): void;
  /** A resource is served now, or no longer. */
  onInstalled(resource: string): void;
  onRemoved(resource: string): void;
  /** What is odd about an object of which a fact is said. */
  onRemarks(object: KubeObject, remarks: readonly Remark[]): void;
}

/** What the watcher may not do, and what that costs. */
export interface MissingPermission {
  readonly verb: string;
  readonly resource: string;
  readonly without: string;
}
