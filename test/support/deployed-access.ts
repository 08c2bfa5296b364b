import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import type { AccessRule } from "../../demo/kubernetes/server/access.ts";

/** An object of `deploy/kubernetes/2-access.yaml`. */
export interface AccessObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly AccessRule[];
}

/** The objects of the file with the collectors' permissions. */
export const ACCESS_OBJECTS = parseAllDocuments(readFileSync("deploy/kubernetes/2-access.yaml", "utf8")).map(
  (document) => document.toJS() as AccessObject,
);

/** Returns the rules of the ClusterRole or the Role. */
export function deployedRules(kind: "ClusterRole" | "Role"): readonly AccessRule[] {
  return ACCESS_OBJECTS.filter((each) => each.kind === kind).flatMap((each) => each.rules);
}

/** Returns the rules of both roles, each in its namespace. */
export function allDeployedRules(): readonly AccessRule[] {
  const { namespace } = ACCESS_OBJECTS.find(({ kind }) => kind === "Role")!.metadata;
  return [
    ...deployedRules("ClusterRole"),
    ...deployedRules("Role").map((rule) => ({ ...rule, namespace: namespace! })),
  ];
}
