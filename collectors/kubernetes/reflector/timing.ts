/** How a reflector asks. */
export interface ReflectorTiming {
  readonly pageSize: number;
  /** A stream that says nothing for so long is taken for dead: servers send bookmarks about once a minute. */
  readonly silenceMillis: number;
  /** How long one watch may last; the server ends it. */
  readonly watchSeconds: number;
  /** How long to wait before asking again for what is forbidden or not installed. */
  readonly absentMillis: number;
  /** How long something must be forbidden before it counts as such: a server that starts forbids everything for a moment. */
  readonly doubtMillis: number;
}

/** What the service runs with. */
export const REFLECTOR_TIMING: ReflectorTiming = {
  pageSize: 500,
  silenceMillis: 150_000,
  watchSeconds: 420,
  absentMillis: 60_000,
  doubtMillis: 10_000,
};
