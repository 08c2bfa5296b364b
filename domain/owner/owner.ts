import type { Marks } from "../marks.ts";

/** A dimension that a cost is attributed to, in addition to the workload itself. */
export type Dimension = (typeof DIMENSIONS)[number];

/** Every dimension, in the order of a bill's columns. */
export const DIMENSIONS = ["team", "costCenter", "project", "environment"] as const;

/** The team of costs that the platform pays. */
export const PLATFORM = "platform";

/** The team of costs for which no team is named. */
export const UNOWNED = "unowned";

/** The fields of a workload that the owner rules read. Unknown fields are empty strings. */
export interface OwnerSubject {
  readonly namespace: string;
  /** The name of the top of the owner chain, or the pod's own name. */
  readonly workload: string;
  readonly queue: string;
  /** The pool of the node that the workload is bound to. */
  readonly pool: string;
  readonly pod: Marks;
  /** The labels and annotations of the pod's owners. */
  readonly owner: Marks;
  readonly namespaceMarks: Marks | undefined;
}

const NO_MARKS: Marks = { labels: {}, annotations: {} };

/** The subject for owner rules about a machine or a namespace without a workload. */
export const NO_WORKLOAD: Omit<OwnerSubject, "pool"> = {
  namespace: "",
  workload: "",
  queue: "",
  pod: NO_MARKS,
  owner: NO_MARKS,
  namespaceMarks: undefined,
};

/** Returns the marks of a pod and of its owners. If they are not known separately, both get the merged marks. */
export function podMarks({
  labels,
  annotations,
  marks,
}: Marks & { readonly marks?: { readonly pod: Marks; readonly owners: Marks } }): Pick<OwnerSubject, "pod" | "owner"> {
  const both = { labels, annotations };
  return { pod: marks?.pod ?? both, owner: marks?.owners ?? both };
}

/** A value of a dimension, and its source. */
export interface Owner {
  /** {@link UNOWNED} for a team if no rule names one; empty for any other dimension. */
  readonly value: string;
  /**
   * The name of the rule: the given name, or what the rule reads and when it holds (`podLabel team`, `namespace lab from 2026-03-01`). Empty
   * if no rule gave the value.
   */
  readonly rule: string;
  /** The source that the rule read: `podLabel team`, `namespace vision-*`; empty if no rule gave the value. */
  readonly source: string;
}

/** A team that is not in the register. It was ignored, and the next source was used. */
export interface RefusedOwner extends Owner {
  readonly dimension: "team";
}

/** The owners of a workload at one time. */
export interface Attribution {
  readonly owners: Readonly<Record<Dimension, Owner>>;
  readonly refused: readonly RefusedOwner[];
}
