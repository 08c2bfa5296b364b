/** Returns a number of things with the right form of the noun: `1 GPU`, `2 GPUs`. `shown` is the text of the number, if it has another form. */
export function counted(count: number, noun: string, shown = String(count)): string {
  return `${shown} ${noun}${count === 1 ? "" : "s"}`;
}
