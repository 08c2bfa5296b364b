import { createHash, timingSafeEqual } from "node:crypto";

/** Whether two texts are the same; the time taken tells nothing of how much of them is, nor of their length. */
export function equalSecrets(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
