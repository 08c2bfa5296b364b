/** The reason why a request to an API server failed. */
export type ApiErrorCode =
  /** No response: the server is down, or the connection broke. */
  | "unavailable"
  /** The server accepted the request and was silent longer than allowed. */
  | "silent"
  /** 401: the credentials are not, or no longer, accepted. */
  | "unauthorized"
  /** 403: the credentials do not allow this verb and resource. */
  | "forbidden"
  /** 404: the resource does not exist, because its API group is not installed. */
  | "not-found"
  /** 409: another client has written in the meantime. */
  | "conflict"
  /** 410: the resourceVersion or the continue token is too old. */
  | "gone"
  /** 429 and 503: too many requests. */
  | "too-many-requests"
  /** The response is not valid for an API server. */
  | "garbage"
  /** 4xx: a retry cannot help. */
  | "rejected";

/** Every failure of an API server: a code to branch on, whether a retry can help, and the server's message. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly retriable: boolean;
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The server's Retry-After, in milliseconds; undefined if it gave none. */
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
 * Returns the error of a response with a status of 400 or more, or of an ERROR event, whose object is a Status with the same codes
 * (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/).
 */
export function apiErrorOf(status: number, body: string, retryAfter?: string): ApiError {
  const message = statusMessage(body) ?? `HTTP ${status}`;
  const seconds = Number(retryAfter);
  return new ApiError(CODES[status] ?? (status >= 500 ? "unavailable" : "rejected"), message, {
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
