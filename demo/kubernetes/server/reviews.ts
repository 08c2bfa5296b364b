import type { Access } from "./access.ts";
import { failure } from "./status.ts";

/** Returns the answer to a review of the user's permissions; `undefined` if the resource is not such a review. */
export function reviewOf(access: Access, resource: string, sent: unknown): unknown {
  const spec = ((sent as { readonly spec?: unknown } | null)?.spec ?? {}) as Readonly<Record<string, unknown>>;
  const head = { apiVersion: "authorization.k8s.io/v1", metadata: {} };
  if (resource === "selfsubjectaccessreviews") {
    const wanted = spec["resourceAttributes"] as Readonly<Record<string, string>> | undefined;
    if (wanted === undefined) {
      throw failure(422, "Invalid", "spec.resourceAttributes: Required value: exactly one of the attributes is needed");
    }
    const { verb = "", group = "", resource: name = "", subresource = "", namespace = "", name: object = "" } = wanted;
    const whole = subresource === "" ? name : `${name}/${subresource}`;
    const allowed = access.isAllowed({ verb, group, resource: whole, namespace, name: object });
    return { kind: "SelfSubjectAccessReview", ...head, spec, status: { allowed } };
  }
  if (resource === "selfsubjectrulesreviews") {
    const namespace = typeof spec["namespace"] === "string" ? spec["namespace"] : "";
    if (namespace === "") throw failure(422, "Invalid", "spec.namespace: Required value");
    const status = { resourceRules: access.rulesIn(namespace), nonResourceRules: [], incomplete: false };
    return { kind: "SelfSubjectRulesReview", ...head, spec, status };
  }
  return undefined;
}
