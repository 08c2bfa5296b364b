import type { Origin, Part } from "./part.ts";
import { allocatedTo } from "./identity.ts";

/** Before the keys of tags that are ours; other labels stand as they were given, and none begins so. */
const PREFIX = "gpu-ledger/";

type Tags = Readonly<Record<string, string>>;

/** What an origin is: where it stands, and of what kind. Names that nothing says are left out. */
export function tagsOf({ cluster, node, pool, gpuModel, layout, capacityType }: Origin): Tags {
  return prefixed({ cluster, node, pool, "gpu-model": gpuModel, layout, "capacity-type": capacityType });
}

/** Who had a part of it and who pays; undefined for what was allocated to nobody. A key of {@link tagsOf} is never among them. */
export function allocatedTagsOf(part: Part): Tags | undefined {
  if (allocatedTo(part) === undefined) return undefined;
  const ours = prefixed({
    namespace: part.namespace,
    workload: part.workload,
    "workload-kind": part.workloadKind,
    "workload-type": part.type,
    queue: part.queue,
    "priority-class": part.priorityClass,
    team: part.team,
    "cost-center": part.costCenter,
    project: part.project,
    environment: part.environment,
  });
  const labels = Object.entries(part.labels).filter(([name]) => !name.startsWith(PREFIX));
  return { ...Object.fromEntries(labels), ...ours };
}

function prefixed(names: Tags): Tags {
  const said = Object.entries(names).filter(([, value]) => value !== "");
  return Object.fromEntries(said.map(([name, value]) => [`${PREFIX}${name}`, value]));
}
