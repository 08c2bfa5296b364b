/** A request to the server. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly accept: string;
  /** By the server's clock, milliseconds since the epoch. */
  readonly atMillis: number;
}

/** Returns true if a fault applies to a request. */
export type RequestMatch = (request: LoggedRequest) => boolean;

const MOST_REQUESTS = 10_000;

/** The requests of a server, oldest first. If there are too many, only the newest are kept. */
export interface RequestLog {
  readonly all: readonly LoggedRequest[];
  add(request: LoggedRequest): void;
  clear(): void;
}

/** Creates an empty log. */
export function createRequestLog(): RequestLog {
  const all: LoggedRequest[] = [];
  return {
    all,
    add(request) {
      if (all.length >= MOST_REQUESTS) all.splice(0, MOST_REQUESTS / 2);
      all.push(request);
    },
    clear() {
      all.length = 0;
    },
  };
}
