/** Returns a duration as a short text: `45 s`, `12 min`, `3.5 h`. */
export function durationText(millis: number): string {
  const seconds = millis / 1000;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
