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
