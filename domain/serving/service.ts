import type { ModelWork } from "./work.ts";

/** One page of an engine in an hour. Times are milliseconds: idle time is part of the covered time, covered time of the served time. */
export interface ServingTarget {
  /** The time within the hour in which the pod ran. */
  readonly servedMillis: number;
  /** The time in which the pod ran and had not been ready yet. Time that is covered does not count as loading. */
  readonly loadingMillis: number;
  /** The time between two successful scrapes that are close enough. */
  readonly coveredMillis: number;
  /** Covered time without any request. */
  readonly idleMillis: number;
  /** The models of the page, sorted by name. */
  readonly models: readonly ModelWork[];
}

/**
 * Pods whose cost belongs to the same pages: a pod with its pages (several engines have several), or the pods of a gang, in which only the
 * leader has a page and the other pods cost as much.
 */
export interface Replica {
  /** UIDs of the pods. */
  readonly pods: readonly string[];
  readonly targets: readonly ServingTarget[];
}

/** The tokens that a gateway counted for a tenant of a model. */
export interface TenantWork {
  readonly model: string;
  readonly adapter: string;
  readonly tenant: string;
  /** Prompt tokens, cached ones included. */
  readonly promptTokens: number;
  /** Cached prompt tokens; undefined if the gateway does not count them. */
  readonly cachedTokens: number | undefined;
  readonly generatedTokens: number;
  readonly requests: number;
  /** The price that the gateway has charged, in 10^-9 of its currency. */
  readonly spendNanos: number;
}

/** The identity of a model service, in addition to the model: the workload of its engines. */
export interface ServiceName {
  readonly cluster: string;
  readonly namespace: string;
  readonly workloadKind: string;
  readonly workload: string;
}

/** A workload that serves models, in one hour. */
export interface Service extends ServiceName {
  /** Pods that are in no replica have no page and no gang with one. They cost as all pages of the workload together. */
  readonly replicas: readonly Replica[];
  /** The whole work of each model, counted once. */
  readonly works: readonly ModelWork[];
  /** The work that a frontend counted for models whose engines count no tokens. */
  readonly frontend: readonly ModelWork[];
  /** The tokens of tenants, as gateways counted them. */
  readonly tenants: readonly TenantWork[];
}
