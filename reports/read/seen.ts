import { maySeeTeam, seesAll, type Viewer } from "../access/viewer.ts";
import type { LiveFleet } from "./live-gpus.ts";

/** Returns the part of the fleet that a viewer may see: for a viewer of some teams, what their workloads hold. */
export function fleetSeenBy(viewer: Viewer, fleet: LiveFleet): LiveFleet {
  if (seesAll(viewer)) return fleet;
  const own = fleet.gpus.filter(
    ({ holder }) => holder?.workload !== undefined && maySeeTeam(viewer, holder.workload.team),
  );
  return { ...fleet, gpus: own, unobserved: [], nodes: [] };
}
