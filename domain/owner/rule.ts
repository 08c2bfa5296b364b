import type { Dimension } from "./owner.ts";

/** The field that a value rule matches, most specific first. */
export type MatchKind = "workload" | "queue" | "namespace" | "pool";

/** Every match kind, in the order in which finance's file is searched. */
export const MATCH_KINDS: readonly MatchKind[] = ["workload", "queue", "namespace", "pool"];

/** A rule with an optional name. Explanations use it, or else a name derived from what the rule reads. */
interface NamedRule {
  readonly name?: string | undefined;
}

/** A rule that reads the value from a label or annotation: of a pod, of its owner, or of its namespace. */
export type LabelRule = NamedRule &
  (
    | { readonly podLabel: string }
    | { readonly podAnnotation: string }
    | { readonly ownerLabel: string }
    | { readonly namespaceLabel: string }
  );

/** The time in which a rule holds, milliseconds since the epoch, half-open. An absent bound means no limit. */
export interface RuleTerm {
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

/**
 * A rule that gives a value to everything that its pattern matches: an exact name, a glob (`vision-*`), or a regular expression
 * (`/nlp-.+/`).
 */
export type ValueRule = NamedRule &
  RuleTerm & { readonly value: string } & (
    | { readonly workload: string }
    | { readonly queue: string }
    | { readonly namespace: string }
    | { readonly pool: string }
  );

/** The position of finance's file in the list. Without this rule, the file comes first. */
export interface FileRule {
  readonly ownersFile: true;
}

/** One source of a dimension's value. */
export type OwnerRule = LabelRule | ValueRule | FileRule;

/** A row of finance's file: what it matches, and its values. An absent dimension has no value from this row. */
export interface OwnerRow extends RuleTerm {
  /** The line number in the file, from 1 on. */
  readonly line: number;
  readonly kind: MatchKind;
  /** As in {@link ValueRule}. */
  readonly match: string;
  readonly values: Readonly<Partial<Record<Dimension, string>>>;
}

/** All owner settings of a configuration. */
export interface OwnerConfig {
  /** The sources of each dimension, in order of precedence. */
  readonly owners: Readonly<Record<Dimension, readonly OwnerRule[]>>;
  readonly ownersFile?: readonly OwnerRow[] | undefined;
  /** The teams that exist. If absent, every name is accepted as a team. */
  readonly register?: readonly string[] | undefined;
  /** Teams of the ledger's charges. Their names count, also if people read one of them as a reserved name. */
  readonly chargedTeams?: readonly string[] | undefined;
}

/** A problem with the rules: the path in the configuration, and what is allowed there. */
export interface OwnerProblem {
  readonly path: readonly (string | number)[];
  readonly allowed: string;
}

/** Returns the kind and the pattern of a value rule. */
export function matchOf(rule: ValueRule): { readonly kind: MatchKind; readonly match: string } {
  if ("workload" in rule) return { kind: "workload", match: rule.workload };
  if ("queue" in rule) return { kind: "queue", match: rule.queue };
  if ("namespace" in rule) return { kind: "namespace", match: rule.namespace };
  return { kind: "pool", match: rule.pool };
}

/** Returns whether two rules hold at a common moment. */
export function overlap(one: RuleTerm, other: RuleTerm): boolean {
  const from = Math.max(one.from ?? -Infinity, other.from ?? -Infinity);
  return from < Math.min(one.until ?? Infinity, other.until ?? Infinity);
}

/** Returns whether a rule holds at a time. */
export function holdsAt({ from = -Infinity, until = Infinity }: RuleTerm, atMillis: number): boolean {
  return from <= atMillis && atMillis < until;
}
