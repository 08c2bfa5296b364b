/** Returns the place of a key: the number of keys before it. */
export function placeOf(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Adds a key in its place, at most once. */
export function addKey(keys: string[], key: string): void {
  const place = placeOf(keys, key);
  if (keys[place] !== key) keys.splice(place, 0, key);
}

/** Removes a key. */
export function removeKey(keys: string[], key: string): void {
  const place = placeOf(keys, key);
  if (keys[place] === key) keys.splice(place, 1);
}
