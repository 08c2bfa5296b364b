import { describe, expect, it } from "vitest";
import { OWNER_KINDS } from "../../../collectors/kubernetes/owners/kinds.ts";
import { neededPermissions, WATCHED_KINDS } from "../../../collectors/kubernetes/watcher/kinds.ts";
import { createAccess, type Access } from "../../../demo/kubernetes/server/access.ts";
import { ADDED_RESOURCES, BUILT_IN_RESOURCES, createCatalog } from "../../../demo/kubernetes/server/resources.ts";
import { ACCESS_OBJECTS, allDeployedRules, deployedRules } from "../../support/deployed-access.ts";

const LEASE = { namespace: "gpu-ledger", name: "gpu-ledger-watcher" };
/** The access of an API server with exactly the permissions of the committed file. */
function accessAsCommitted(): Access {
  const access = createAccess(createCatalog([...BUILT_IN_RESOURCES, ...ADDED_RESOURCES]), "collector");
  access.setRules(allDeployedRules());
  return access;
}

const attempt = (verb: string, resource: string, group = "", namespace = "", name = "") => ({
  verb,
  group,
  resource,
  namespace,
  name,
});

describe("the permissions of deploy/kubernetes", () => {
  it("allow everything that the collector needs", () => {
    const access = accessAsCommitted();
    const needed = neededPermissions(LEASE);
    expect(needed.length).toBeGreaterThan(60);
    const refused = needed.filter(({ verb, resource, group, namespace }) => {
      const name = namespace !== undefined && verb !== "create" ? LEASE.name : "";
      return !access.isAllowed(attempt(verb, resource, group, namespace, name));
    });
    expect(refused).toEqual([]);
  });

  it("allow nothing that the collector does not need", () => {
    const needed = new Set(neededPermissions(LEASE).map(({ verb, group, resource }) => `${verb} ${resource}.${group}`));
    const allowed = allDeployedRules().flatMap(({ verbs, apiGroups: [group], resources }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group!}`)),
    );
    expect(allowed.filter((one) => !needed.has(one))).toEqual([]);
  });

  it.each([
    ["list secrets", attempt("list", "secrets")],
    ["get a secret of its own namespace", attempt("get", "secrets", "", "gpu-ledger", "gpu-ledger-clickhouse")],
    ["list configmaps", attempt("list", "configmaps")],
    ["delete a pod", attempt("delete", "pods", "", "ml", "train-0")],
    ["make a pod", attempt("create", "pods", "", "ml")],
    ["read a pod's log", attempt("get", "pods/log", "", "ml", "train-0")],
    ["run a command in a pod", attempt("create", "pods/exec", "", "ml", "train-0")],
    ["change a node", attempt("patch", "nodes", "", "", "gpu-a")],
    ["reach through a node to its kubelet", attempt("get", "nodes/proxy", "", "", "gpu-a")],
    ["list deployments, which it only gets", attempt("list", "deployments", "apps")],
    ["list leases", attempt("list", "leases", "coordination.k8s.io", "gpu-ledger")],
    ["take another lease", attempt("update", "leases", "coordination.k8s.io", "gpu-ledger", "another")],
    [
      "take a lease in another namespace",
      attempt("update", "leases", "coordination.k8s.io", "kube-system", LEASE.name),
    ],
    ["delete the lease", attempt("delete", "leases", "coordination.k8s.io", "gpu-ledger", LEASE.name)],
    [
      "give itself more permissions",
      attempt("update", "clusterroles", "rbac.authorization.k8s.io", "", "gpu-ledger-collector"),
    ],
  ])("do not let it %s", (_, forbidden) => {
    expect(accessAsCommitted().isAllowed(forbidden)).toBe(false);
  });

  it("allow only reading in the whole cluster, and name every group and resource", () => {
    const verbs = deployedRules("ClusterRole").flatMap((rule) => rule.verbs);
    expect([...new Set(verbs)].toSorted()).toEqual(["get", "list", "watch"]);
    for (const rule of deployedRules("ClusterRole")) {
      expect(rule.apiGroups).toHaveLength(1);
      expect([...rule.apiGroups, ...rule.resources].join(" ")).not.toContain("*");
      expect(Object.keys(rule).toSorted()).toEqual(["apiGroups", "resources", "verbs"]);
    }
  });

  it("allow writing of one lease and nothing else", () => {
    expect(deployedRules("Role")).toEqual([
      {
        apiGroups: ["coordination.k8s.io"],
        resources: ["leases"],
        resourceNames: [LEASE.name],
        verbs: ["get", "update"],
      },
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
    ]);
    expect(ACCESS_OBJECTS.find(({ kind }) => kind === "Role")?.metadata.namespace).toBe(LEASE.namespace);
  });

  it("have a place for every watched kind and every kind that owns pods", () => {
    const verbsOf = (group: string, resource: string): readonly string[] =>
      deployedRules("ClusterRole")
        .filter((rule) => rule.apiGroups.includes(group) && rule.resources.includes(resource))
        .flatMap((rule) => rule.verbs);
    expect(
      WATCHED_KINDS.filter(
        ({ group, resource }) => !["list", "watch"].every((verb) => verbsOf(group, resource).includes(verb)),
      ),
    ).toEqual([]);
    expect(OWNER_KINDS.filter(({ group, resource }) => !verbsOf(group, resource).includes("get"))).toEqual([]);
  });
});
