type Texts = Readonly<Record<string, string>>;

/** Where an owner is read: a label or annotation of a pod, of what owns it, or of its namespace. */
export type OwnerSource =
  | { readonly podLabel: string }
  | { readonly ownerLabel: string }
  | { readonly namespaceLabel: string };

/** Labels and annotations of an object. */
export interface Marks {
  readonly labels: Texts;
  readonly annotations: Texts;
}

/** Whoever nobody is named for. */
export const UNOWNED = "unowned";

/**
 * The owner by the first source that answers, else {@link UNOWNED}. A label counts before an annotation of the same name. The
 * marks of a pod are its own and, where it lacks them, those of its owners (WorkloadFact.labels): a source of either kind
 * reads both.
 */
export function ownerOf(sources: readonly OwnerSource[], pod: Marks, namespace: Marks | undefined): string {
  for (const source of sources) {
    const [marks, name] =
      "namespaceLabel" in source
        ? [namespace, source.namespaceLabel]
        : [pod, "podLabel" in source ? source.podLabel : source.ownerLabel];
    const owner = marks?.labels[name] ?? marks?.annotations[name];
    if (owner !== undefined && owner !== "") return owner;
  }
  return UNOWNED;
}
