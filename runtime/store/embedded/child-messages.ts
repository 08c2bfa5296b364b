/** What the supervisor and the store's process say to each other. */
import type { EngineLimits } from "./engine-config.ts";
import type { BodyLimits } from "./request-body.ts";
import type { RunnerLimits } from "./statement-runner.ts";

/** How the store's process is to run. */
export interface StoreProcessOptions {
  readonly folder: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly engine: EngineLimits;
  readonly runner: RunnerLimits;
  readonly body: BodyLimits;
}

/** Said by the supervisor. */
export type ToStoreProcess =
  | { readonly kind: "start"; readonly options: StoreProcessOptions }
  | { readonly kind: "stop" };

/** Said by the store's process. */
export type FromStoreProcess =
  | { readonly kind: "ready"; readonly port: number; readonly version: string }
  | { readonly kind: "failed"; readonly message: string };
