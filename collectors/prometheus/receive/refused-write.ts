/** The status codes of refused requests. A sender repeats 429 and 5xx, and drops the samples of the others. */
export type RefusedStatus = 400 | 401 | 403 | 413 | 415 | 429 | 503;

const RETRY_SECONDS = 5;

/** A request that is refused. The message is the answer's body. */
export class RefusedWrite extends Error {
  readonly code = "refused-write";
  readonly status: RefusedStatus;
  /** The wait of the sender, if the request can be repeated. */
  readonly retrySeconds: number;

  constructor(
    status: RefusedStatus,
    message: string,
    { cause, retrySeconds = RETRY_SECONDS }: { readonly cause?: unknown; readonly retrySeconds?: number } = {},
  ) {
    super(message, { cause });
    this.name = "RefusedWrite";
    this.status = status;
    this.retrySeconds = retrySeconds;
  }

  /** True if the sender repeats the request. */
  get retriable(): boolean {
    return this.status === 429 || this.status === 503;
  }
}
