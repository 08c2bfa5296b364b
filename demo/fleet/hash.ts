/** The multipliers of MurmurHash3's finaliser (Appleby, smhasher, MurmurHash3.cpp). */
const FIRST = 0x85ebca6b;
const SECOND = 0xc2b2ae35;

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), FIRST);
  mixed = Math.imul(mixed ^ (mixed >>> 13), SECOND);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Returns an integer of 32 bits that depends on every argument. Time is given as the index of a bucket. */
export function hash(key: number, a = 0, b = 0, c = 0): number {
  let mixed = finish(key ^ 0x9e3779b9);
  mixed = finish(mixed ^ Math.imul(a | 0, 0x27d4eb2f) ^ (a / 4294967296));
  mixed = finish(mixed ^ Math.imul(b | 0, 0x165667b1));
  return finish(mixed ^ Math.imul(c | 0, 0x3c6ef372));
}

/** Returns the hash of a text under a key. */
export function hashText(key: number, text: string): number {
  let mixed = finish(key ^ 0x811c9dc5);
  for (let i = 0; i < text.length; i++) mixed = Math.imul(mixed ^ text.charCodeAt(i), 0x01000193);
  return finish(mixed);
}

/** Returns a number in `[0, 1)` that depends on every argument. */
export function roll(key: number, a = 0, b = 0, c = 0): number {
  return hash(key, a, b, c) / 4294967296;
}

/** Returns one element of a non-empty list, by a number in `[0, 1)`. */
export function pick<Value>(list: readonly Value[], part: number): Value {
  return list[Math.floor(part * list.length)]!;
}

/** Returns a UUID in the form of version 4 that depends only on the arguments. */
export function uuidOf(key: number, a = 0): string {
  const hex = [1, 2, 3, 4].map((part) => hash(key, a, part).toString(16).padStart(8, "0")).join("");
  const variant = "89ab"[hash(key, a, 5) % 4]!;
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join("-");
}

/** The letters of Kubernetes' generated names (k8s.io/apimachinery/pkg/util/rand: no vowels, no similar letters). */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";

/** Returns the random end of a Kubernetes name. */
export function suffixOf(key: number, length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) text += ALPHABET[hash(key, i, 77) % ALPHABET.length]!;
  return text;
}
