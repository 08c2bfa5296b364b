import type {
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1Role,
  V1RoleBinding,
  V1ServiceAccount,
} from "@kubernetes/client-node";
import type { LeaseName, NeededPermission } from "../collectors/kubernetes/watcher/kinds.ts";
import { COLLECTOR, NAMESPACE } from "./names.ts";

/** A rule of RBAC, with the fields that are needed here. */
export interface AccessRule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

const VERBS: readonly NeededPermission["verb"][] = ["get", "list", "watch", "create", "update"];

/**
 * Returns the rules of a ClusterRole with only the needed permissions in the whole cluster: one rule for all resources of an API group with
 * the same verbs.
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
 * Returns the rules of a Role in the lease's namespace. Reading and writing are limited to the one lease. Creation cannot be limited to a
 * name, because the authorizer has no name at that time
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

/** Returns the collectors' account. The processors have none, because they do not use the cluster's API. */
export function serviceAccount(): V1ServiceAccount {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: COLLECTOR, namespace: NAMESPACE } };
}

/** Returns the collectors' permissions in the whole cluster: reading. */
export function clusterRole(rules: AccessRule[]): V1ClusterRole {
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: COLLECTOR }, rules };
}

/** Binds the collectors' account to their ClusterRole. */
export function clusterRoleBinding(): V1ClusterRoleBinding {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: COLLECTOR },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: COLLECTOR },
    subjects: SUBJECTS,
  };
}

/** Returns the collectors' permissions in their own namespace: keeping the lease. */
export function role(rules: AccessRule[]): V1Role {
  return { apiVersion: `${RBAC}/v1`, kind: "Role", metadata: { name: COLLECTOR, namespace: NAMESPACE }, rules };
}

/** Binds the collectors' account to their Role. */
export function roleBinding(): V1RoleBinding {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: { name: COLLECTOR, namespace: NAMESPACE },
    roleRef: { apiGroup: RBAC, kind: "Role", name: COLLECTOR },
    subjects: SUBJECTS,
  };
}
