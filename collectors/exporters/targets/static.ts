import type { Discovery, Target } from "./target.ts";

/** Targets that the configuration lists. */
export function createStaticDiscovery(targets: readonly Target[]): Discovery {
  return {
    name: "static",
    start: (onTargets) => onTargets(targets, []),
    stop: () => Promise.resolve(),
  };
}
