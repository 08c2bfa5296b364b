/** A request without an answer, as a problem+json document (RFC 9457). */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  /** The same for Fastify. */
  readonly statusCode: number;
  readonly title: string;
  /** The wrong parameters, each with a sentence. */
  readonly errors: readonly ProblemDetail[];

  constructor(code: ProblemCode, detail: string, errors: readonly ProblemDetail[] = []) {
    super(detail);
    const [status, title] = PROBLEMS[code];
    this.name = "Problem";
    this.code = code;
    this.status = status;
    this.statusCode = status;
    this.title = title;
    this.errors = errors;
  }
}

/** A parameter that was wrong. */
export interface ProblemDetail {
  readonly parameter: string;
  readonly message: string;
}

/** Every problem of the server, with its status and title. */
const PROBLEMS = {
  "wrong-parameter": [400, "Wrong parameter"],
  "sign-in-failed": [400, "The sign-in failed"],
  "not-authenticated": [401, "A token is needed"],
  "not-allowed": [403, "No access"],
  "not-found": [404, "Address not found"],
  "page-gone": [410, "The figures have changed since the first page"],
  "too-costly": [422, "The question is too costly"],
  "not-configured": [422, "The configuration lacks a key"],
  "too-many-requests": [429, "Too many requests"],
  failed: [500, "The server failed"],
  "cannot-print": [501, "This server cannot print"],
  "store-away": [503, "The store does not answer"],
  "issuer-away": [503, "The issuer does not answer"],
  busy: [503, "The server is busy"],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

/** The stable codes of problems. */
export type ProblemCode = keyof typeof PROBLEMS;

/** The media type of a problem's document. */
export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";

/** Returns a problem as its document; `instance` is the requested address. */
export function problemDocument({ code, status, title, message, errors }: Problem, instance: string): object {
  return {
    type: `urn:gpu-ledger:problem:${code}`,
    title,
    status,
    detail: message,
    instance,
    ...(errors.length === 0 ? {} : { errors }),
  };
}
