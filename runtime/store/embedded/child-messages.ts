/** The messages between the supervisor and the store's process. */
import type { EngineLimits } from "./engine-config.ts";
import type { BodyLimits } from "./request-body.ts";
import type { RunnerLimits } from "./statement-runner.ts";

/** The options of the store's process. */
export interface StoreProcessOptions {
  readonly folder: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly engine: EngineLimits;
  readonly runner: RunnerLimits;
  readonly body: BodyLimits;
}

/** Messages from the supervisor. */
export type ToStoreProcess =
  | { readonly kind: "start"; readonly options: StoreProcessOptions }
  | { readonly kind: "stop" };

/** Messages from the store's process. */
export type FromStoreProcess =
  | { readonly kind: "ready"; readonly port: number; readonly version: string }
  | { readonly kind: "failed"; readonly message: string };
