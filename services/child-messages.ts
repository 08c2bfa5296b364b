import type { Config } from "../runtime/config/schema.ts";
import type { StoreAddress } from "../runtime/store/connection.ts";

/** The time in which a part ends. After this time `up` kills the part, and a part whose `up` is gone exits. */
export const CHILD_GRACE_MILLIS = 8_000;

/** The first message of `up` to a child. */
export type ChildOrder =
  | { readonly role: "collector"; readonly config: Config }
  | {
      readonly role: "demo";
      readonly config: Config;
      /** The time since which the demo has an older past, milliseconds since the epoch. */
      readonly sinceMillis?: number;
    }
  | {
      readonly role: "processor";
      readonly config: Config;
      readonly store: StoreAddress;
      /** The bearer token of the processor's own port. */
      readonly secret: string;
    };

/** The report that a child sends every 2 s. */
export interface ChildReport {
  readonly status: unknown;
  readonly notReady: string | undefined;
  /** For a processor: the address of the joined series of GPUs, for this machine only. */
  readonly gpuMetrics?: string;
}

/** The request for metrics. `up` sends it only after a request to itself: collecting metrics costs more than a quiet second's work. */
export const ASK_METRICS = "metrics";

/** The answer to {@link ASK_METRICS}: the content of the part's registry, as JSON. */
export interface ChildMetrics {
  readonly metrics: unknown;
}
