/** Why a message was left out without harm. */
export type DropReason = "tombstone";

/** Why a message cannot be used, and is kept with the reason in `gpu.dead-letter`. */
export type DeadLetterReason =
  | "broken-checksum"
  | "not-a-scrape"
  | "not-a-fact"
  | "not-processed"
  | "rejected-by-store";

/** What a step makes of its input: the next value, or an end with its reason. */
export type Outcome<Value> =
  | { readonly kind: "ok"; readonly value: Value }
  | { readonly kind: "drop"; readonly reason: DropReason }
  | { readonly kind: "dead-letter"; readonly reason: DeadLetterReason; readonly cause: string };
