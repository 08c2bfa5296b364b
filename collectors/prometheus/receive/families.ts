import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import { roleOf } from "./roles.ts";

/** The metadata of families from all senders. The version rises with each change. */
export interface Families {
  readonly map: ReadonlyMap<string, FamilyMeta>;
  readonly version: number;
}

/** Families that senders add to. */
export interface GrowingFamilies extends Families {
  /** Adds the metadata of a family, or replaces it. Families that no dialect reads, and those above the limit, are left out. */
  add(name: string, meta: FamilyMeta): void;
}

const MOST_FAMILIES = 10_000;

/** Creates families that begin with saved ones. `onChange` is called with each change. */
export function createFamilies(
  saved: Iterable<readonly [name: string, meta: FamilyMeta]>,
  onChange: () => void,
): GrowingFamilies {
  const map = new Map(saved);
  let version = 0;
  return {
    map,
    get version() {
      return version;
    },
    add(name, meta) {
      if (roleOf(name) !== "gpu") return;
      const known = map.get(name);
      if (known?.help === meta.help && known?.type === meta.type && known?.unit === meta.unit) return;
      if (known === undefined && map.size >= MOST_FAMILIES) return;
      map.set(name, meta);
      version += 1;
      onChange();
    },
  };
}
