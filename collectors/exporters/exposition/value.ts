const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;

/** Parses a value as Go's `ParseFloat` reads decimals, NaN and the infinities; otherwise `undefined`. */
export function parseValue(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text);
  if (/^[+-]?nan$/i.test(text)) return Number.NaN;
  const infinite = INFINITE.exec(text);
  if (infinite === null) return undefined;
  return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Powers of ten that a double holds exactly. */
const POWERS = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/**
 * The offset at which {@link scanValue} stopped. It is outside the function so that the hot path creates no object. Only one scan at a
 * time.
 */
export const scan = { end: 0 };

/**
 * Reads the number that starts at `start`, and sets {@link scan} to the offset after it. The result is the same double as from `Number`. Up
 * to 15 digits and an exponent within ±22 are exact in one multiplication or division (Clinger's fast path). Longer numbers go through
 * `Number`. Returns `undefined` if no plain decimal starts there.
 */
export function scanValue(page: Buffer, start: number): number | undefined {
  let at = start;
  let byte = page[at]!;
  const negative = byte === 45;
  if (negative) byte = page[++at]!;
  let mantissa = 0;
  let digits = 0;
  let fraction = 0;
  const firstDigit = at;
  while (byte >= 48 && byte <= 57) {
    mantissa = mantissa * 10 + (byte - 48);
    digits += 1;
    byte = page[++at]!;
  }
  if (at === firstDigit) return undefined;
  if (byte === 46) {
    byte = page[++at]!;
    const point = at;
    while (byte >= 48 && byte <= 57) {
      mantissa = mantissa * 10 + (byte - 48);
      byte = page[++at]!;
    }
    fraction = at - point;
    if (fraction === 0) return undefined;
    digits += fraction;
  }
  let exponent = -fraction;
  if (byte === 101 || byte === 69) {
    byte = page[++at]!;
    const down = byte === 45;
    if (down || byte === 43) byte = page[++at]!;
    const point = at;
    let power = 0;
    while (byte >= 48 && byte <= 57) {
      power = power * 10 + (byte - 48);
      byte = page[++at]!;
    }
    if (at === point) return undefined;
    exponent += down ? -power : power;
  }
  scan.end = at;
  if (digits > 15 || exponent < -22 || exponent > 22) return Number(page.toString("latin1", start, at));
  const value = exponent < 0 ? mantissa / POWERS[-exponent]! : exponent > 0 ? mantissa * POWERS[exponent]! : mantissa;
  return negative ? -value : value;
}
