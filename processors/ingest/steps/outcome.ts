/** The reason why a message was dropped without harm. */
export type DropReason = "tombstone";

/** The reason why a message cannot be used. The message becomes a dead letter in `gpu.dead-letter`. */
export type DeadLetterReason =
  | "broken-checksum"
  | "not-a-scrape"
  | "not-a-fact"
  | "not-processed"
  | "rejected-by-store";

/** The result of a step: the next value, or an end with its reason. */
export type Outcome<Value> =
  | { readonly kind: "ok"; readonly value: Value }
  | { readonly kind: "drop"; readonly reason: DropReason }
  | { readonly kind: "dead-letter"; readonly reason: DeadLetterReason; readonly cause: string };
