import type { Config } from "../runtime/config/schema.ts";
import type { StoreAddress } from "../runtime/store/connection.ts";

/** What `up` tells a child before anything else. */
export type ChildOrder =
  | { readonly role: "collector" | "demo"; readonly config: Config }
  | { readonly role: "processor"; readonly config: Config; readonly store: StoreAddress };

/** What a child reports every other second. */
export interface ChildReport {
  readonly status: unknown;
  readonly notReady: string | undefined;
  /** Of a processor: where it serves the joined series of GPUs, to this machine alone. */
  readonly gpuMetrics?: string;
}

/** What `up` asks for when somebody asks it: putting metrics together costs more than a quiet second's work. */
export const ASK_METRICS = "metrics";

/** The answer to {@link ASK_METRICS}: what the part's registry holds, as JSON. */
export interface ChildMetrics {
  readonly metrics: unknown;
}
