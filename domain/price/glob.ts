/** Whether a pattern is a glob, that is, has a `*` (any characters) or a `?` (one); else it is a value to be met exactly. */
export function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern);
}

/** The number of characters of a glob that stand for themselves, by which the more specific of two wins (ledger, "Prices"). */
export function literalLength(pattern: string): number {
  return pattern.replace(/[*?]/g, "").length;
}

/** Whether the whole of a value fits a glob, case and all. Time grows with the product of both lengths at most. */
export function fitsGlob(pattern: string, value: string): boolean {
  let [inPattern, inValue] = [0, 0];
  let [star, resumed] = [-1, 0];
  while (inValue < value.length) {
    const wanted = pattern[inPattern];
    if (wanted === "*") {
      [star, resumed] = [inPattern, inValue];
      inPattern += 1;
    } else if (wanted === "?" || wanted === value[inValue]) {
      inPattern += 1;
      inValue += 1;
    } else if (star >= 0) {
      // The last star takes one character more, and the rest is tried again.
      resumed += 1;
      [inPattern, inValue] = [star + 1, resumed];
    } else return false;
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

/** Stands where a star or a question mark takes any character: no name that a cluster knows has it. */
const ANY = "~";

/**
 * A name that fits two globs, or two exact names, or one of each; undefined where there is none. Where both leave the
 * characters open, they are such that no other pattern was written for them. Time grows with the product of the lengths.
 */
export function commonName(one: string, other: string): string | undefined {
  // names[j] fits what is left of `one` from i on and of `other` from j on.
  let after: readonly (string | undefined)[] = [];
  for (let i = one.length; i >= 0; i--) {
    const names: (string | undefined)[] = [];
    for (let j = other.length; j >= 0; j--) names[j] = nameFrom(one[i], other[j], names[j + 1], after[j], after[j + 1]);
    after = names;
  }
  return after[0];
}

/** A name for two rests that begin with `a` and `b`, by names for what remains without the one, the other, and both. */
function nameFrom(
  a: string | undefined,
  b: string | undefined,
  withoutB: string | undefined,
  withoutA: string | undefined,
  withoutBoth: string | undefined,
): string | undefined {
  if (a === undefined && b === undefined) return "";
  if (a === "*" && b === "*") return prefixed(ANY, withoutA ?? withoutB);
  if (a === "*") return withoutA ?? (b === undefined ? undefined : prefixed(b === "?" ? ANY : b, withoutB));
  if (b === "*") return withoutB ?? (a === undefined ? undefined : prefixed(a === "?" ? ANY : a, withoutA));
  if (a === undefined || b === undefined) return undefined;
  if (a === b || b === "?") return prefixed(a === "?" ? ANY : a, withoutBoth);
  return a === "?" ? prefixed(b, withoutBoth) : undefined;
}

function prefixed(begin: string, rest: string | undefined): string | undefined {
  return rest === undefined ? undefined : begin + rest;
}
