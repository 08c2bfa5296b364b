import type { ServingCounts } from "../../domain/serving/line.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import type { Part, ServedWork } from "./part.ts";

type Parts = readonly [Part, ...Part[]];

/**
 * Gives the cached tokens of services a meter of their own, as FOCUS 1.5 has it: each origin with cached tokens is followed by an origin of
 * these tokens. They cost nothing, because no GPU computed them. Their saving goes with them.
 */
export async function* withCacheMeters(origins: AsyncIterable<Parts>): AsyncGenerator<Parts> {
  for await (const parts of origins) {
    yield parts.map((part) =>
      withWork(part, { counts: { cachedTokens: 0 }, saved: lastUnits(0n) }),
    ) as unknown as Parts;
    const [first, ...others] = parts.flatMap((part) => cachedOf(part) ?? []);
    if (first !== undefined && [first, ...others].some(({ isAskedFor }) => isAskedFor)) yield [first, ...others];
  }
}

function withWork(
  part: Part,
  { counts, ...work }: Partial<Omit<ServedWork, "counts">> & { readonly counts: Partial<ServingCounts> },
): Part {
  return part.work === undefined
    ? part
    : { ...part, work: { ...part.work, ...work, counts: { ...part.work.counts, ...counts } } };
}

const NOTHING = {
  lines: 0,
  millis: 0,
  gpuHours: lastUnits<"gpu-hour">(0n),
  list: lastUnits<"currency">(0n),
  contracted: lastUnits<"currency">(0n),
  effective: lastUnits<"currency">(0n),
  power: undefined,
  millijoules: undefined,
  carbon: undefined,
};

function cachedOf(part: Part): Part | undefined {
  const { work, origin } = part;
  if (work === undefined || work.counts.cachedTokens === 0) return undefined;
  const none = Object.fromEntries(Object.keys(work.counts).map((name) => [name, 0])) as ServingCounts;
  const counts = { ...none, cachedTokens: work.counts.cachedTokens };
  return { ...withWork(part, { counts }), ...NOTHING, origin: { ...origin, meter: "Input Cache" } };
}
