import { NAME_KINDS, type FoundName } from "./names.ts";

/** Returns the names that contain a text, whatever its case: the best matches first, then by kind and name. */
export function find(names: readonly FoundName[], text: string): readonly FoundName[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  return names
    .flatMap((each) => {
      const rank = rankOf(each, wanted);
      return rank === undefined ? [] : [{ each, rank }];
    })
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        NAME_KINDS.indexOf(a.each.kind) - NAME_KINDS.indexOf(b.each.kind) ||
        (a.each.name < b.each.name ? -1 : 1),
    )
    .map(({ each }) => each);
}

/** Returns how well a name matches, from 0 for an equal one; undefined if it does not. */
function rankOf({ name, beside }: FoundName, wanted: string): number | undefined {
  const own = name.toLowerCase();
  const at = own.indexOf(wanted);
  if (at < 0) return beside.toLowerCase().includes(wanted) ? 4 : undefined;
  if (own === wanted) return 0;
  if (at === 0) return 1;
  return /[^a-z0-9]/.test(own[at - 1]!) ? 2 : 3;
}
