/** Why an API server did not do what was asked. */
export type ApiErrorCode =
  /** No answer: it is away, or the connection broke. */
  | "unavailable"
  /** It took the request and said nothing for as long as was allowed. */
  | "silent"
  /** 401: the credentials are not accepted (any longer). */
  | "unauthorized"
  /** 403: the credentials do not suffice for this verb and resource. */
  | "forbidden"
  /** 404: the resource is not there, because its API group is not installed. */
  | "not-found"
  /** 409: somebody else has written meanwhile. */
  | "conflict"
  /** 410: the resourceVersion or the continue token is too old. */
  | "gone"
  /** 429 and 503: asked too often. */
  | "too-many-requests"
  /** What came is not what an API server says. */
  | "garbage"
  /** 4xx that no retry helps. */
  | "rejected";

/** Every failure of an API server: a code to branch on, whether trying again can help, and what the server said. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly retriable: boolean;
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** How long the server wants to be left alone. */
  readonly retryAfterMillis: number | undefined;

  constructor(
    code: ApiErrorCode,
    message: string,
    options: {
      readonly status?: number;
      readonly retryAfterMillis?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.retriable = code !== "rejected" && code !== "forbidden" && code !== "not-found";
    this.status = options.status ?? 0;
    this.retryAfterMillis = options.retryAfterMillis;
  }
}

const CODES: Readonly<Record<number, ApiErrorCode>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  409: "conflict",
  410: "gone",
  429: "too-many-requests",
  503: "too-many-requests",
};

/**
 * The error of an answer with a status of 400 or more, or of an ERROR event, whose object is a Status with the same
 * numbers (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/).
 */
export function apiErrorOf(status: number, body: string, retryAfter?: string): ApiError {
  const said = statusMessage(body) ?? `HTTP ${status}`;
  const seconds = Number(retryAfter);
  return new ApiError(CODES[status] ?? (status >= 500 ? "unavailable" : "rejected"), said, {
    status,
    retryAfterMillis: retryAfter !== undefined && seconds >= 0 ? seconds * 1000 : undefined,
  });
}

function statusMessage(body: string): string | undefined {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
