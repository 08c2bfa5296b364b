/** The timing of a reflector's requests. */
export interface ReflectorTiming {
  readonly pageSize: number;
  /** A stream that is silent for this time is treated as dead. Servers send bookmarks about once a minute. */
  readonly silenceMillis: number;
  /** The longest duration of one watch; the server ends it. */
  readonly watchSeconds: number;
  /** How long to wait before the next request for a resource that is forbidden or not installed. */
  readonly absentMillis: number;
  /** How long a resource must be forbidden before it counts as forbidden: a server that is starting forbids everything for a moment. */
  readonly doubtMillis: number;
}

/** The timing of the service. */
export const REFLECTOR_TIMING: ReflectorTiming = {
  pageSize: 500,
  silenceMillis: 150_000,
  watchSeconds: 420,
  absentMillis: 60_000,
  doubtMillis: 10_000,
};
