import { MACHINE_DIMENSIONS } from "../../domain/charge/dimension.ts";
import type { ServiceName } from "../../domain/serving/service.ts";
import type { Origin, Part } from "./part.ts";
import { allocatedTo } from "./identity.ts";

/** The prefix of this project's tag keys. Other labels are unchanged, and none begins with it. */
const PREFIX = "gpu-ledger/";

type Tags = Readonly<Record<string, string>>;

/** The tags of the machine's dimensions for which FOCUS has no column. */
const MACHINE_TAGS = MACHINE_DIMENSIONS.flatMap((name) =>
  name === "instanceType" || name === "region" || name === "zone"
    ? []
    : [[name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), name] as const],
);

/** Returns the location and the kind of an origin, or the service. Empty names are left out. */
export function tagsOf(origin: Origin): Tags {
  const { cluster, service, node, pool } = origin;
  return prefixed({
    cluster,
    ...(service === undefined ? {} : workloadTags(service)),
    node,
    pool,
    ...Object.fromEntries(MACHINE_TAGS.map(([tag, name]) => [tag, origin[name]])),
  });
}

/**
 * Returns the holder or the work of a part, and the payer; undefined if it was allocated to nobody. The keys are never keys of
 * {@link tagsOf}.
 */
export function allocatedTagsOf(part: Part): Tags | undefined {
  if (allocatedTo(part) === undefined) return undefined;
  const { work } = part;
  const ours = prefixed({
    ...(work === undefined
      ? workloadTags(part)
      : { model: work.model, adapter: work.adapter, tenant: work.tenant, phase: work.phase }),
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

function workloadTags({ namespace, workloadKind, workload }: Omit<ServiceName, "cluster">): Tags {
  return { namespace, workload, "workload-kind": workloadKind };
}

function prefixed(names: Tags): Tags {
  const given = Object.entries(names).filter(([, value]) => value !== "");
  return Object.fromEntries(given.map(([name, value]) => [`${PREFIX}${name}`, value]));
}
