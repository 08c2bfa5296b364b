import type { ApiError } from "../api/api-error.ts";
import type { KubeObject } from "../projection/kube-object.ts";
import type { Remark } from "../projection/remark.ts";

/** The events of a cluster's watcher, for metrics and logs. Resources are named as in kubectl. */
export interface WatcherEvents {
  /** This collector watches the cluster from now on. */
  onElected(epoch: number): void;
  onDeposed(): void;
  onElectionError(error: unknown): void;
  /** The list of served resources was read. */
  onLooked(): void;
  onListed(resource: string, objects: number): void;
  onWatchEvent(resource: string, type: string): void;
  onWatchTaken(resource: string): void;
  onWatchEnded(resource: string, why: string): void;
  /** The server's versions have gone back, as after a restore of its database. Everything is listed and sent again. */
  onVersionsBack(resource: string): void;
  /** A request failed. It is retried after `againInMillis`. */
  onError(resource: string, error: ApiError, againInMillis: number): void;
  /** An action is forbidden. Reported once until it is allowed. `without` ends a sentence that begins with "without it". */
  onForbidden(missing: MissingPermission): void;
  onAllowed(missing: MissingPermission): void;
  /** A resource is served from now on, or no longer. */
  onInstalled(resource: string): void;
  onRemoved(resource: string): void;
  /** Remarks on an object with a fact. */
  onRemarks(object: KubeObject, remarks: readonly Remark[]): void;
}

/** A permission that the watcher lacks, and the effect. */
export interface MissingPermission {
  readonly verb: string;
  readonly resource: string;
  readonly without: string;
}
