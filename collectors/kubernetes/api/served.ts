import { ApiError } from "./api-error.ts";
import type { ApiConnection } from "./connection.ts";

/** The resources of a server: the version to use for each resource, named as in kubectl (`jobs.batch`). */
export type ServedResources = ReadonlyMap<string, string>;

/** The media type for all groups and their resources in one response, available since Kubernetes 1.26 (KEP-3352). */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

interface AggregatedGroups {
  readonly kind: "APIGroupDiscoveryList";
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version?: string;
      readonly resources?: readonly { readonly resource?: string }[];
    }[];
  }[];
}

interface PlainGroups {
  readonly kind: "APIGroupList";
  readonly groups?: readonly { readonly name?: string; readonly versions?: readonly { readonly version?: string }[] }[];
}

/**
 * Returns the resources of some groups that a server serves now, each in the server's preferred version. The core group is always `v1` and
 * is not requested. Fails with an `ApiError`.
 */
export async function findServed(
  api: ApiConnection,
  groups: ReadonlySet<string>,
  options: { readonly timeoutMillis: number; readonly signal: AbortSignal },
): Promise<ServedResources> {
  const ask = <Value>(path: string, accept?: string): Promise<Value> =>
    api.json<Value>({
      path,
      silenceMillis: options.timeoutMillis,
      signal: options.signal,
      ...(accept === undefined ? {} : { accept }),
    });
  const all = await ask<AggregatedGroups | PlainGroups>("/apis", AGGREGATED);
  const served = new Map<string, string>();
  const add = (group: string, version: string, resources: readonly (string | undefined)[]): void => {
    for (const resource of resources) {
      const name = `${resource}.${group}`;
      if (resource !== undefined && !served.has(name)) served.set(name, version);
    }
  };
  if (all.kind === "APIGroupDiscoveryList") {
    for (const { metadata, versions = [] } of all.items ?? []) {
      const group = metadata?.name ?? "";
      if (!groups.has(group)) continue;
      for (const { version = "", resources = [] } of versions)
        add(
          group,
          version,
          resources.map(({ resource }) => resource),
        );
    }
    return served;
  }
  for (const { name = "", versions = [] } of all.groups ?? []) {
    if (!groups.has(name)) continue;
    for (const { version = "" } of versions) {
      const list = await ask<{ readonly resources?: readonly { readonly name?: string }[] }>(
        `/apis/${name}/${version}`,
      ).catch((error: unknown) => {
        // A group that is being removed is still in the list of groups.
        if (error instanceof ApiError && error.code === "not-found") return { resources: [] };
        throw error;
      });
      add(
        name,
        version,
        (list.resources ?? []).map((resource) => resource.name),
      );
    }
  }
  return served;
}
