import { once } from "node:events";
import { PassThrough } from "node:stream";

/**
 * Passes parts on while a check reads them too, as fast as the slower of the two. Returns the result of the check. Fails like the parts and
 * the check.
 */
export async function* checkedOnTheWay<Part, Outcome>(
  parts: AsyncIterable<Part>,
  check: (copy: AsyncIterable<Part>) => Promise<Outcome>,
): AsyncGenerator<Part, Outcome> {
  const copy = new PassThrough({ objectMode: true });
  const outcome = check(copy);
  // The failure is thrown below. A consumer that stops early has its own reason.
  outcome.catch(() => {});
  try {
    for await (const part of parts) {
      if (!copy.write(part)) await Promise.race([once(copy, "drain"), outcome]);
      yield part;
    }
    copy.end();
    return await outcome;
  } finally {
    copy.destroy();
  }
}
