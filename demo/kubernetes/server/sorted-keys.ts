/** Returns the index of a key: the number of keys before it. */
export function indexOfKey(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Adds a key at its index, at most once. */
export function addKey(keys: string[], key: string): void {
  const index = indexOfKey(keys, key);
  if (keys[index] !== key) keys.splice(index, 0, key);
}

/** Removes a key. */
export function removeKey(keys: string[], key: string): void {
  const index = indexOfKey(keys, key);
  if (keys[index] === key) keys.splice(index, 1);
}
