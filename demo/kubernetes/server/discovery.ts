import { apiVersionOf, type ApiResource, type ResourceCatalog } from "./resources.ts";

const READ_VERBS = ["get", "list", "watch"];

/** Returns the answer to a path of discovery; `undefined` for other paths, or if the group is not installed. */
export function discoveryOf(catalog: Pick<ResourceCatalog, "all">, path: string, accept: string | undefined): unknown {
  const resources = catalog.all();
  const [root = "", group, version, ...more] = path.split("/").filter((part) => part !== "");
  if (more.length > 0) return undefined;
  const core = resources.filter((each) => each.group === "");
  const rest = resources.filter((each) => each.group !== "");
  if (root === "version" && group === undefined) return VERSION;
  if (root === "api") {
    if (group === undefined) return wantsAggregated(accept) ? aggregated(core) : CORE_VERSIONS;
    return group === "v1" && version === undefined ? resourceList("v1", core) : undefined;
  }
  if (root !== "apis") return undefined;
  if (group === undefined) {
    if (wantsAggregated(accept)) return aggregated(rest);
    return { kind: "APIGroupList", apiVersion: "v1", groups: groupsOf(rest).map(([, list]) => groupOf(list)) };
  }
  const ofGroup = rest.filter((each) => each.group === group);
  if (ofGroup.length === 0) return undefined;
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupOf(ofGroup) };
  const ofVersion = ofGroup.filter((each) => each.version === version);
  return ofVersion.length === 0 ? undefined : resourceList(`${group}/${version}`, ofVersion);
}

/** The reported release of the server. */
const VERSION = {
  major: "1",
  minor: "33",
  gitVersion: "v1.33.4",
  gitTreeState: "clean",
  goVersion: "go1.24.5",
  compiler: "gc",
  platform: "linux/amd64",
} as const;

const CORE_VERSIONS = {
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1" }],
} as const;

function wantsAggregated(accept: string | undefined): boolean {
  return /application\/json;(?:[^,]*;)?as=APIGroupDiscoveryList/.test((accept ?? "").replaceAll(" ", ""));
}

function verbsOf({ resource, group }: ApiResource): readonly string[] {
  return group === "coordination.k8s.io" && resource === "leases" ? [...READ_VERBS, "create", "update"] : READ_VERBS;
}

function resourceList(groupVersion: string, resources: readonly ApiResource[]): unknown {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion,
    resources: resources.map((each) => ({
      name: each.resource,
      singularName: each.kind.toLowerCase(),
      namespaced: each.namespaced,
      kind: each.kind,
      verbs: verbsOf(each),
    })),
  };
}

function groupsOf(resources: readonly ApiResource[]): [string, ApiResource[]][] {
  const groups = new Map<string, ApiResource[]>();
  for (const each of resources) groups.set(each.group, [...(groups.get(each.group) ?? []), each]);
  return [...groups];
}

function groupOf(resources: readonly ApiResource[]): Readonly<Record<string, unknown>> {
  const versions = [...new Set(resources.map(apiVersionOf))].map((groupVersion) => ({
    groupVersion,
    version: groupVersion.split("/").at(-1)!,
  }));
  return { name: resources[0]!.group, versions, preferredVersion: versions[0] };
}

/** Returns everything in one answer (apidiscovery.k8s.io/v2). */
function aggregated(resources: readonly ApiResource[]): unknown {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groupsOf(resources).map(([name, list]) => ({
      metadata: { name, creationTimestamp: null },
      versions: [...new Set(list.map(({ version }) => version))].map((version) => ({
        version,
        freshness: "Current",
        resources: list
          .filter((each) => each.version === version)
          .map((each) => ({
            resource: each.resource,
            responseKind: { group: each.group, version, kind: each.kind },
            scope: each.namespaced ? "Namespaced" : "Cluster",
            singularResource: each.kind.toLowerCase(),
            verbs: verbsOf(each),
          })),
      })),
    })),
  };
}
