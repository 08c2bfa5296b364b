/** What a cost is attributed by, beside the workload itself. */
export type Dimension = (typeof DIMENSIONS)[number];

/** Every dimension, in the order of a bill's columns. */
export const DIMENSIONS = ["team", "costCenter", "project", "environment"] as const;

/** Who pays for what the platform pays for. */
export const PLATFORM = "platform";

/** The team of whatever nobody is named for. */
export const UNOWNED = "unowned";

/** Whether a bill has this name for what is nobody's team. */
export function isReserved(team: string): boolean {
  return team === UNOWNED || team === PLATFORM;
}

/** Labels and annotations of an object. */
export interface Marks {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A workload as far as its owners are concerned. What is not known of it is an empty text. */
export interface OwnerSubject {
  readonly namespace: string;
  /** The name of the top of its chain of owners, or the pod's own. */
  readonly workload: string;
  readonly queue: string;
  /** Of the node that it is bound to. */
  readonly pool: string;
  readonly pod: Marks;
  /** Of the pod's owners. */
  readonly owner: Marks;
  readonly namespaceMarks: Marks | undefined;
}

const NO_MARKS: Marks = { labels: {}, annotations: {} };

/** What rules are asked about a machine or a namespace that no workload holds or is in. */
export const NO_WORKLOAD: Omit<OwnerSubject, "pool"> = {
  namespace: "",
  workload: "",
  queue: "",
  pod: NO_MARKS,
  owner: NO_MARKS,
  namespaceMarks: undefined,
};

/** The marks of a pod and of its owners. Where they are not known apart, those of both answer for each. */
export function podMarks({
  labels,
  annotations,
  marks,
}: Marks & { readonly marks?: { readonly pod: Marks; readonly owners: Marks } }): Pick<OwnerSubject, "pod" | "owner"> {
  const both = { labels, annotations };
  return { pod: marks?.pod ?? both, owner: marks?.owners ?? both };
}

/** A value, and what gave it. */
export interface Owner {
  /** {@link UNOWNED} for a team that nobody names, empty for any other dimension. */
  readonly value: string;
  /** Where the rule stands that gave it: `owners.team[1]`, `ownersFile line 7`; empty where none did. */
  readonly place: string;
  /** What the rule read: `podLabel team`, `namespace vision-*`; empty where none did. */
  readonly source: string;
}

/** A team that the register does not know: it did not count, and the next source was asked. */
export interface RefusedOwner extends Owner {
  readonly dimension: "team";
}

/** Whom a workload belongs to at a time. */
export interface Attribution {
  readonly owners: Readonly<Record<Dimension, Owner>>;
  readonly refused: readonly RefusedOwner[];
}
