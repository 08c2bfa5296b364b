import type { Discovery, Target } from "./target.ts";

/** Creates a discovery of the targets in the configuration. */
export function createStaticDiscovery(targets: readonly Target[]): Discovery {
  return {
    name: "static",
    start: (onTargets) => onTargets(targets, []),
    stop: () => Promise.resolve(),
  };
}
