import type { ApiConnection } from "./connection.ts";

/** An action on an API server to check. */
export interface AccessAttempt {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  /** `proxy` in `pods/proxy`. */
  readonly subresource?: string;
  /** If absent, all namespaces. */
  readonly namespace?: string;
  /** If absent, all objects. */
  readonly name?: string;
}

/**
 * Returns whether our own credentials allow an action. Only the server's authorizer is called; the action is not done
 * (https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/). Every authenticated user
 * may do this. Fails with an `ApiError`.
 */
export async function isAllowed(
  api: ApiConnection,
  attempt: AccessAttempt,
  options: { readonly timeoutMillis: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const { status } = await api.json<{ readonly status?: { readonly allowed?: boolean } }>({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: attempt },
    },
    silenceMillis: options.timeoutMillis,
    signal: options.signal,
  });
  return status?.allowed === true;
}
