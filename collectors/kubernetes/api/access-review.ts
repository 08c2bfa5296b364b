import type { ApiConnection } from "./connection.ts";

/** Something that one may want to do on an API server. */
export interface AccessAttempt {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  /** All namespaces where absent. */
  readonly namespace?: string;
  /** All objects where absent. */
  readonly name?: string;
}

/**
 * Whether our own credentials allow something: the server's authorizer is asked, and nothing is done
 * (https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/). Everybody
 * who is somebody may ask. Fails with an `ApiError`.
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
