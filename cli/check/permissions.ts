import { isAllowed } from "../../collectors/kubernetes/api/access-review.ts";
import { findServed } from "../../collectors/kubernetes/api/served.ts";
import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import { neededPermissions, type LeaseName, type NeededPermission } from "../../collectors/kubernetes/watcher/kinds.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { errorText } from "../context.ts";
import type { ClusterUnderCheck, Finding } from "./finding.ts";

/** The needed permissions of one resource for one purpose. */
interface Need {
  readonly resource: string;
  readonly permissions: readonly NeededPermission[];
  readonly without: string;
}

/**
 * Checks with the server that the collector has each needed permission. A missing one has kubectl's name and the effect on the reports.
 * Resources that are not installed need none yet. A server that does not answer is a finding.
 */
export async function* checkPermissions(
  cluster: ClusterUnderCheck,
  { lease, owners }: Config["kubernetes"],
): AsyncGenerator<Finding> {
  const what = `cluster ${cluster.name}, permissions`;
  const further = owners.map(({ type, ...kind }) => ({ ...kind, ...(type === undefined ? {} : { type }) }));
  const permissions = neededPermissions(lease, ownerKinds(further));
  try {
    const served = await findServed(cluster.api, new Set(permissions.map(({ group }) => group)), cluster);
    const isServed = ({ group, resource }: NeededPermission): boolean =>
      group === "" || served.has(`${resource}.${group}`);
    const asked = permissions.filter(isServed);
    let missing = 0;
    for (const need of needsOf(asked)) {
      const refused = await refusedOf(cluster, need, lease);
      missing += refused.length;
      if (refused.length > 0) yield missingFinding(cluster.name, need, refused);
    }
    if (missing === 0) yield { ok: true, what, answer: `all ${asked.length} needed permissions are granted` };
    const absent = absentOf(permissions.filter((permission) => !isServed(permission)));
    if (absent !== "") {
      const answer = `${absent}; watched and read when they are installed`;
      yield { ok: true, what: `cluster ${cluster.name}, not installed`, answer };
    }
  } catch (error) {
    yield { ok: false, what, answer: errorText(error) };
  }
}

/** Returns the permissions of a need that the server refuses. Those of the lease are checked by its name, except for its creation. */
async function refusedOf(
  { api, timeoutMillis, signal }: ClusterUnderCheck,
  { permissions }: Need,
  lease: LeaseName,
): Promise<readonly NeededPermission[]> {
  const allowed = await Promise.all(
    permissions.map(({ verb, group, resource, namespace }) => {
      const target = namespace === undefined ? {} : verb === "create" ? { namespace } : { namespace, name: lease.name };
      return isAllowed(api, { verb, group, resource, ...target }, { timeoutMillis, signal });
    }),
  );
  return permissions.filter((_, index) => allowed[index] !== true);
}

function missingFinding(cluster: string, { resource, without }: Need, refused: readonly NeededPermission[]): Finding {
  const namespace = refused[0]?.namespace;
  const where = namespace === undefined ? "in the whole cluster" : `in namespace ${namespace}`;
  const verbs = refused.map(({ verb }) => verb).join(", ");
  return {
    ok: false,
    what: `cluster ${cluster}, ${resource}`,
    answer: `permission to ${verbs} ${where} is missing; without it ${without}`,
  };
}

/** Groups permissions by resource and purpose, so that they are checked and reported together. */
function needsOf(permissions: readonly NeededPermission[]): readonly Need[] {
  const needs = new Map<string, Need>();
  for (const permission of permissions) {
    const { group, resource, without } = permission;
    const name = group === "" ? resource : `${resource}.${group}`;
    const key = JSON.stringify([name, without]);
    const known = needs.get(key)?.permissions ?? [];
    needs.set(key, { resource: name, permissions: [...known, permission], without });
  }
  return [...needs.values()];
}

/** `kueue.x-k8s.io (clusterqueues, localqueues), ray.io (rayjobs)`. */
function absentOf(permissions: readonly NeededPermission[]): string {
  const groups = new Map<string, Set<string>>();
  for (const { group, resource } of permissions) groups.set(group, (groups.get(group) ?? new Set()).add(resource));
  return [...groups].map(([group, resources]) => `${group} (${[...resources].join(", ")})`).join(", ");
}
