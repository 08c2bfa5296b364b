import type { ChangeCause } from "../../domain/change/divide.ts";

/** The words for a cause: if it costs more, and if it costs less. */
const WORDS: Readonly<Record<ChangeCause, readonly [more: string, less: string]>> = {
  hours: ["more GPU-hours", "fewer GPU-hours"],
  price: ["dearer", "cheaper"],
  mix: ["on dearer GPUs or states", "on cheaper GPUs or states"],
  new: ["new", "new"],
  gone: ["gone", "gone"],
  "moved-in": ["moved here from another team", "moved here from another team"],
  "moved-out": ["moved to another team", "moved to another team"],
  correction: ["corrections", "corrections"],
  other: ["costs without GPU-hours", "costs without GPU-hours"],
};

/** Returns the sentence about a first span that began before the first charge, an ISO 8601 time. */
export function unknownBefore(chargedSince: string): string {
  return `The first charge is of ${chargedSince}. The cost of the time before is not known, so that what seems new may have been there.`;
}

/** Returns a cause in words, by the sign of an exact decimal amount. */
export function causeWords(cause: ChangeCause, cost: string): string {
  return WORDS[cause][cost.startsWith("-") ? 1 : 0];
}
