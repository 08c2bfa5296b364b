/** Returns whether a pattern is a glob, with a `*` (any characters) or a `?` (one character). Otherwise it is an exact value. */
export function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern);
}

/** Returns the number of literal characters of a glob. The more specific of two globs wins by it (docs/prices.md). */
export function literalLength(pattern: string): number {
  return pattern.replace(/[*?]/g, "").length;
}

/** Returns whether a whole value matches a glob, case-sensitive. The time is at most proportional to the product of both lengths. */
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
      // The last star takes one more character, and the rest is tried again.
      resumed += 1;
      [inPattern, inValue] = [star + 1, resumed];
    } else return false;
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

/** The placeholder for a character that a star or a question mark may match. No name in a cluster contains it. */
const ANY = "~";

/**
 * Returns a name that matches two globs, two exact names, or one of each; undefined if there is none. Where both leave the characters open,
 * the name has placeholders, so that no other pattern matches them literally. The time is proportional to the product of the lengths.
 */
export function commonName(one: string, other: string): string | undefined {
  // names[j] matches the rest of `one` from i on and the rest of `other` from j on.
  let after: readonly (string | undefined)[] = [];
  for (let i = one.length; i >= 0; i--) {
    const names: (string | undefined)[] = [];
    for (let j = other.length; j >= 0; j--) names[j] = nameFrom(one[i], other[j], names[j + 1], after[j], after[j + 1]);
    after = names;
  }
  return after[0];
}

/**
 * Returns a name for two rests that begin with `a` and `b`, from the names for the rests without the first, without the second, and without
 * both.
 */
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
