import { once } from "node:events";
import { PassThrough } from "node:stream";

/**
 * Gives bytes on while a check reads a copy of them, as fast as the slower of the two, and returns what the check came to. Fails as
 * the bytes and the check do.
 */
export async function* checkedOnTheWay<Outcome>(
  bytes: AsyncIterable<Uint8Array>,
  check: (copy: AsyncIterable<Uint8Array>) => Promise<Outcome>,
): AsyncGenerator<Uint8Array, Outcome> {
  const copy = new PassThrough();
  const outcome = check(copy);
  // Its failure is thrown below; whoever stops before hears of the reason that made them.
  outcome.catch(() => {});
  try {
    for await (const part of bytes) {
      if (!copy.write(part)) await Promise.race([once(copy, "drain"), outcome]);
      yield part;
    }
    copy.end();
    return await outcome;
  } finally {
    copy.destroy();
  }
}
