/**
 * Assigns every partition to a member that subscribes to its topic, as evenly as the subscriptions allow, and with the fewest moves. The
 * result depends only on the arguments, so all processes find the same one.
 *
 * @param subscribers the members that may own each partition
 * @param previous the target owner so far of each partition
 */
export function balance(
  subscribers: ReadonlyMap<string, readonly string[]>,
  previous: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = [...subscribers.keys()].toSorted();
  const owned = new Map<string, Set<string>>();
  for (const memberId of [...subscribers.values()].flat().toSorted()) {
    if (!owned.has(memberId)) owned.set(memberId, new Set());
  }
  const countOf = (memberId: string) => owned.get(memberId)?.size ?? 0;
  const leastLoaded = (candidates: readonly string[]) =>
    candidates.toSorted().reduce((least, memberId) => (countOf(memberId) < countOf(least) ? memberId : least));

  for (const name of names) {
    const keeper = previous[name];
    if (keeper !== undefined && subscribers.get(name)?.includes(keeper)) owned.get(keeper)?.add(name);
  }
  const kept = new Set([...owned.values()].flatMap((set) => [...set]));
  for (const name of names.filter((candidate) => !kept.has(candidate))) {
    owned.get(leastLoaded(subscribers.get(name) ?? []))?.add(name);
  }

  // Takes partitions from the member with the most, so that no member gives away too many and gets some back. Each move takes one partition
  // to a member that has at least two fewer, so the loop ends.
  const moveOne = (): boolean => {
    for (const [memberId, set] of [...owned].toSorted(([, one], [, other]) => other.size - one.size)) {
      for (const name of [...set].toReversed()) {
        const target = leastLoaded(subscribers.get(name) ?? []);
        if (countOf(memberId) - countOf(target) < 2) continue;
        set.delete(name);
        owned.get(target)?.add(name);
        return true;
      }
    }
    return false;
  };
  while (moveOne());
  return Object.fromEntries([...owned].flatMap(([memberId, set]) => [...set].map((name) => [name, memberId])));
}
