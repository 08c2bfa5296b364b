/** A second, minute, hour and day in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Returns a time in Kubernetes' form: whole seconds, UTC. */
export function timestamp(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19)}Z`;
}
