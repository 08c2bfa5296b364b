/** A time as ISO 8601, a midnight as its date alone; undefined where it is not a time but no beginning or no end. */
export function timeText(millis: number): string | undefined {
  if (!Number.isFinite(millis)) return undefined;
  return new Date(millis)
    .toISOString()
    .replace(/\.000Z$/, "Z")
    .replace(/T00:00:00Z$/, "");
}
