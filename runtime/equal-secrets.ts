import { createHash, timingSafeEqual } from "node:crypto";

/** Returns whether two texts are equal. The time does not depend on how much of them is equal, nor on their length. */
export function equalSecrets(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
