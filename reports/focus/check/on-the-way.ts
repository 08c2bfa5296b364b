import { once } from "node:events";
import { PassThrough } from "node:stream";

/**
 * Gives parts on while a check reads them too, as fast as the slower of the two, and returns what the check came to. Fails as the parts
 * and the check do.
 */
export async function* checkedOnTheWay<Part, Outcome>(
  parts: AsyncIterable<Part>,
  check: (copy: AsyncIterable<Part>) => Promise<Outcome>,
): AsyncGenerator<Part, Outcome> {
  const copy = new PassThrough({ objectMode: true });
  const outcome = check(copy);
  // Its failure is thrown below; whoever stops before hears of the reason that made them.
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
