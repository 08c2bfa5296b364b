import type { Dimension } from "./owner.ts";

/** What a rule that names a value looks at, the one first that says most about a workload. */
export type MatchKind = "workload" | "queue" | "namespace" | "pool";

/** Every such kind, in the order in which finance's file is asked. */
export const MATCH_KINDS: readonly MatchKind[] = ["workload", "queue", "namespace", "pool"];

/** Reads the value from a label or annotation: of a pod, of what owns it, or of its namespace. */
export type LabelRule =
  | { readonly podLabel: string }
  | { readonly podAnnotation: string }
  | { readonly ownerLabel: string }
  | { readonly namespaceLabel: string };

/** From when and until when a rule holds, milliseconds since the epoch, half-open; always where nothing is said. */
export interface RuleTerm {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

/** Gives a value to all that its pattern fits: an exact name, a glob (`vision-*`), or a regular expression (`/nlp-.+/`). */
export type ValueRule = RuleTerm & { readonly value: string } & (
    | { readonly workload: string }
    | { readonly queue: string }
    | { readonly namespace: string }
    | { readonly pool: string }
  );

/** Finance's file is asked at this place of the list; where no place is said, before all others. */
export interface FileRule {
  readonly ownersFile: true;
}

/** One source of a dimension's value. */
export type OwnerRule = LabelRule | ValueRule | FileRule;

/** A row of finance's file: what it matches, and the values that it gives; a dimension that is left out it does not answer. */
export interface OwnerRow extends RuleTerm {
  /** Of the file, from 1 on. */
  readonly line: number;
  readonly kind: MatchKind;
  /** As in {@link ValueRule}. */
  readonly match: string;
  readonly values: Readonly<Partial<Record<Dimension, string>>>;
}

/** All that a configuration says of owners. */
export interface OwnerConfig {
  /** The sources of each dimension in the order in which they are asked. */
  readonly owners: Readonly<Record<Dimension, readonly OwnerRule[]>>;
  readonly ownersFile?: readonly OwnerRow[] | undefined;
  /** The teams that there are; where it is left out, any team is one. */
  readonly register?: readonly string[] | undefined;
}

/** Something that is wrong with rules: where they stand in the configuration, and what is allowed there. */
export interface OwnerProblem {
  readonly path: readonly (string | number)[];
  readonly allowed: string;
}

/** The kind and the pattern of a rule that names a value. */
export function matchOf(rule: ValueRule): { readonly kind: MatchKind; readonly match: string } {
  if ("workload" in rule) return { kind: "workload", match: rule.workload };
  if ("queue" in rule) return { kind: "queue", match: rule.queue };
  if ("namespace" in rule) return { kind: "namespace", match: rule.namespace };
  return { kind: "pool", match: rule.pool };
}

/** Whether two rules hold at a common moment. */
export function overlap(one: RuleTerm, other: RuleTerm): boolean {
  const from = Math.max(one.from ?? -Infinity, other.from ?? -Infinity);
  return from < Math.min(one.until ?? Infinity, other.until ?? Infinity);
}

/** Whether a rule holds at a time. */
export function holdsAt({ from = -Infinity, until = Infinity }: RuleTerm, atMillis: number): boolean {
  return from <= atMillis && atMillis < until;
}
