/** Returns a time for people: `2026-03-01 12:00:00 UTC`. */
export function utc(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
