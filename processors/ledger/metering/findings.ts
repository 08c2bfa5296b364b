import type { Span } from "../plan/node-record.ts";

/** A discovery of a metered hour about a span with other hours. */
export interface Discovery extends Span {
  /** The identity of a proof of a holder; absent if the hour has shown a GPU. */
  readonly proof?: string;
}

/** The findings of a metered hour. */
export interface Findings {
  readonly discovered: readonly Discovery[];
  /** The identities of the proofs that it has used and that are new, its own among them. */
  readonly proofs: ReadonlySet<string>;
}
