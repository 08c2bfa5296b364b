import type { MigProduct, MigProfile } from "../../../../domain/share/mig-table.ts";

/**
 * The possible first memory slices of instances, by compute and memory slices of their profile, as `nvidia-smi mig -lgipp` prints them for GPUs of 7,
 * 4 and 2 compute slices.
 */
const STARTS: Readonly<Record<string, readonly number[]>> = {
  "7:1/1": [0, 1, 2, 3, 4, 5, 6],
  "7:1/2": [0, 2, 4, 6],
  "7:2/2": [0, 2, 4],
  "7:3/4": [0, 4],
  "7:4/4": [0],
  "7:7/8": [0],
  "4:1/1": [0, 1, 2, 3],
  "4:2/2": [0, 2],
  "4:4/4": [0],
  "2:1/1": [0, 1],
  "2:2/2": [0],
};

/** Every set of instances that can be created on a GPU, each once, by a search over every place for every instance. */
export function creatableOn(product: MigProduct): ReadonlyMap<string, readonly MigProfile[]> {
  const found = new Map<string, readonly MigProfile[]>();
  const seen = new Set<string>();
  const place = (created: readonly (readonly [MigProfile, number])[], occupied: number): void => {
    const instances = created.map(([profile]) => profile);
    found.set(keyOf(instances), instances);
    for (const profile of product.profiles) {
      const { computeSlices, memorySlices } = profile;
      for (const start of STARTS[`${product.computeSlices}:${computeSlices}/${memorySlices}`] ?? []) {
        const slices = ((1 << memorySlices) - 1) << start;
        if ((occupied & slices) !== 0) continue;
        const next = [...created, [profile, start] as const];
        const where = next
          .map(([each, at]) => `${each.name}@${at}`)
          .sort()
          .join(" ");
        if (seen.has(where)) continue;
        seen.add(where);
        place(next, occupied | slices);
      }
    }
  };
  place([], 0);
  return found;
}

/** A set of instances as one string, independent of their order. */
export function keyOf(instances: readonly MigProfile[]): string {
  return instances
    .map(({ name }) => name)
    .sort()
    .join(" ");
}
