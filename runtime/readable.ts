/**
 * Returns a text as a terminal may show it: line breaks and tabs stay. Other characters that control a terminal or the direction of text
 * become their codes, because names and messages are from strangers. The codes are those of JSON, so JSON keeps its values.
 */
export function readable(text: string): string {
  return text.replaceAll(/\r(?!\n)|[^\P{Cc}\r\n\t]|\p{Cf}/gu, codeOf);
}

/** Returns a text for one cell or line: line breaks and tabs become codes, too. */
export function readableLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, codeOf);
}

function codeOf(sign: string): string {
  const units = Array.from({ length: sign.length }, (_, index) => sign.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
