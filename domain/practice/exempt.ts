import type { Marks } from "../marks.ts";

/**
 * The label or annotation with the names of practices that an object does not follow on purpose: of a pod, of an owner of it, of its
 * namespace, or of a node. Names are separated by a comma, a space or a dot, because the value of a label cannot contain a comma.
 */
export const EXEMPT_MARK = "gpu-ledger/exempt";

/** Returns the names in the exemptions of some objects. */
export function exemptionsOf(marks: Iterable<Partial<Marks> | undefined>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { labels = {}, annotations = {} } of [...marks].filter((each) => each !== undefined)) {
    for (const map of [labels, annotations]) {
      if (!Object.hasOwn(map, EXEMPT_MARK)) continue;
      for (const name of map[EXEMPT_MARK]!.split(/[\s,.]+/)) if (name !== "") names.add(name);
    }
  }
  return names;
}
