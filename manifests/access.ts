import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1Role,
  V1RoleBinding,
  V1ServiceAccount,
} from "@kubernetes/client-node";
import type { LeaseName, NeededPermission } from "../collectors/kubernetes/watcher/kinds.ts";
import { COLLECTOR, NAMESPACE } from "./names.ts";

/** A rule of RBAC, as far as one is needed here. */
export interface AccessRule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

const VERBS: readonly NeededPermission["verb"][] = ["get", "list", "watch", "create", "update"];

/**
 * The rules of a ClusterRole that give what is needed in the whole cluster and nothing else: a rule for all resources of
 * one API group that need the same verbs.
 */
export function clusterRules(permissions: readonly NeededPermission[]): AccessRule[] {
  const needed = permissions.filter(({ namespace }) => namespace === undefined);
  const rules = new Map<string, AccessRule>();
  for (const { group, resource } of needed) {
    const verbs = VERBS.filter((verb) =>
      needed.some((each) => each.group === group && each.resource === resource && each.verb === verb),
    );
    const key = JSON.stringify([group, verbs]);
    const rule = rules.get(key) ?? { apiGroups: [group], resources: [], verbs };
    rules.set(key, { ...rule, resources: [...new Set([...rule.resources, resource])].sort() });
  }
  return [...rules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}

/**
 * The rules of a Role in the lease's namespace. Reading and writing are for the one lease; making it can't be bound to a
 * name, since the authorizer does not know it then
 * (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources).
 */
export function namespaceRules(permissions: readonly NeededPermission[], lease: LeaseName): AccessRule[] {
  const ofLease = permissions.filter(({ namespace }) => namespace === lease.namespace);
  const rule = (verbs: string[], names: object): AccessRule[] => {
    const [first] = ofLease;
    if (first === undefined || verbs.length === 0) return [];
    return [{ apiGroups: [first.group], resources: [first.resource], ...names, verbs }];
  };
  const verbs = VERBS.filter((verb) => ofLease.some((each) => each.verb === verb));
  return [
    ...rule(
      verbs.filter((verb) => verb !== "create"),
      { resourceNames: [lease.name] },
    ),
    ...rule(
      verbs.filter((verb) => verb === "create"),
      {},
    ),
  ];
}

const RBAC = "rbac.authorization.k8s.io";
const SUBJECTS = [{ kind: "ServiceAccount", name: COLLECTOR, namespace: NAMESPACE }];

/** The collectors' account. The processors have none: they ask nothing of the cluster. */
export function serviceAccount(): V1ServiceAccount {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: COLLECTOR, namespace: NAMESPACE } };
}

/** What the collectors may do in the whole cluster: read. */
export function clusterRole(rules: AccessRule[]): V1ClusterRole {
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: COLLECTOR }, rules };
}

/** Gives the collectors' account their ClusterRole. */
export function clusterRoleBinding(): V1ClusterRoleBinding {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: COLLECTOR },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: COLLECTOR },
    subjects: SUBJECTS,
  };
}

/** What the collectors may do in their own namespace: keep the lease. */
export function role(rules: AccessRule[]): V1Role {
  return { apiVersion: `${RBAC}/v1`, kind: "Role", metadata: { name: COLLECTOR, namespace: NAMESPACE }, rules };
}

/** Gives the collectors' account their Role. */
export function roleBinding(): V1RoleBinding {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: { name: COLLECTOR, namespace: NAMESPACE },
    roleRef: { apiGroup: RBAC, kind: "Role", name: COLLECTOR },
    subjects: SUBJECTS,
  };
}
