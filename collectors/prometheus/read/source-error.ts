/**
 * The kind of a failure: `unavailable` can pass by itself, `limit` passes if less is requested at once, `refused` needs other credentials,
 * `unsupported` means that the server has no such function, `broken` is an answer that cannot be read.
 */
export type SourceErrorKind = "unavailable" | "limit" | "refused" | "unsupported" | "broken";

/** A failure of a request to a Prometheus, with the sentence of the server. */
export class SourceError extends Error {
  readonly kind: SourceErrorKind;
  /** The pause that the server requested. */
  readonly retryAfterMillis: number;

  constructor(
    kind: SourceErrorKind,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMillis?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "SourceError";
    this.kind = kind;
    this.retryAfterMillis = options.retryAfterMillis ?? 0;
  }
}
