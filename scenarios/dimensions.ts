/** A line's dimensions by name, with their values. A dimension without a value is empty or absent. */
export type Dimensions = Readonly<Record<string, string>>;

/** Returns the key of a group's values: one text for each combination. */
export function groupKey(values: readonly string[]): string {
  return JSON.stringify(values);
}
