/** Returns the time in the form of FOCUS: `2026-03-01T00:00:00Z`. */
export function momentOf(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19)}Z`;
}
