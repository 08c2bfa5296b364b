/** The numbered changes of nodes. Keys are those of `inventoryKey`. */
export interface NodeVersions {
  changed(key: string): void;
  changedAll(): void;
  /** Forgets a node that is gone. A later version of it is that of all nodes. */
  forget(key: string): void;
  /** Returns the number of the last change of a node, or of all nodes. */
  of(key: string): number;
}

/** Creates the versions of nodes that have not changed. */
export function createNodeVersions(): NodeVersions {
  const versions = new Map<string, number>();
  let [last, ofAll] = [0, 0];
  return {
    changed: (key) => void versions.set(key, (last += 1)),
    changedAll: () => void (ofAll = last += 1),
    forget(key) {
      last += 1;
      versions.delete(key);
    },
    of: (key) => Math.max(ofAll, versions.get(key) ?? 0),
  };
}
