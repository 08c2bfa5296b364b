/** Returns a time as Kubernetes writes it. `millis` is in milliseconds since the epoch. */
export function timestamp(millis: number): string {
  return new Date(millis).toISOString();
}
