import { qualifiedName, type ApiResource } from "./resources.ts";

/** An answer about a failure or a success (meta/v1 Status). */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Failure";
  readonly message: string;
  readonly reason: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly code: number;
}

/** An error with a Status, which the server returns. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message);
    this.status = status;
  }
}

/** Returns a Status of a failure. */
export function failure(
  code: number,
  reason: string,
  message: string,
  more: Partial<Pick<Status, "details" | "metadata">> = {},
): StatusError {
  const { metadata = {}, details } = more;
  const base = { kind: "Status", apiVersion: "v1", metadata, status: "Failure", message, reason } as const;
  return new StatusError(details === undefined ? { ...base, code } : { ...base, details, code });
}

/** Returns 404 for an object. */
export function notFound(resource: ApiResource, name: string): StatusError {
  return failure(404, "NotFound", `${qualifiedName(resource)} "${name}" not found`, { details: named(resource, name) });
}

/** Returns 410 for a version that is no longer known, in the words of the watch cache. */
export function tooOld(asked: number, oldest: number): StatusError {
  return failure(410, "Expired", `too old resource version: ${asked} (${oldest})`);
}

/** Returns 504 for a version from the future, which a client has from a server that is ahead of this one. */
export function tooLarge(asked: number, current: number): StatusError {
  return failure(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}

/** Returns 422 for a list option, in the words of ValidateListOptions (k8s.io/apimachinery). */
export function invalidOption(field: string, problem: string, code: 400 | 422 = 422): StatusError {
  return failure(
    code,
    code === 422 ? "Invalid" : "BadRequest",
    `ListOptions.meta.k8s.io "" is invalid: ${field}: ${problem}`,
    {
      details: {
        group: "meta.k8s.io",
        kind: "ListOptions",
        causes: [{ reason: "FieldValueForbidden", message: problem, field }],
      },
    },
  );
}

/** The fields of a Status about its object. */
export function named({ group, resource }: ApiResource, name: string): Readonly<Record<string, unknown>> {
  return { name, ...(group === "" ? {} : { group }), kind: resource };
}
