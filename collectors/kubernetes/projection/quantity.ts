import { MOST_COUNT } from "../../../domain/messages/shapes.ts";

/** A parsed number, or the reason why it was refused. The reason ends a sentence that begins with the key of the value. */
export type Parsed = { readonly value: number } | { readonly refused: string };

/**
 * The form of a quantity: a decimal number with an exponent or one suffix
 * (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/). `1E` is an exa, `1E3` is 1000.
 */
const FORM = /^([+-]?)(?=\.?\d)(\d*)\.?(\d*)(?:[eE]([+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?$/;

const DECIMAL_EXPONENT: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_EXPONENT: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/** The longest accepted quantity. Real quantities are shorter, and arithmetic on very long numbers would take too long. */
const MOST_CHARACTERS = 64;
const MOST_EXPONENT = 40;

/** A quantity as an exact fraction. */
interface Exact {
  readonly numerator: bigint;
  readonly denominator: bigint;
  /** True if it was written with a binary suffix (Ki, Mi, Gi, …), which is for bytes. */
  readonly bytes: boolean;
}

/** Parses a count: a whole number of at least 0. `1e3`, `1k` and `1000m` are counts, `500m` is not. */
export function parseCount(value: unknown): Parsed {
  return whole(value, (exact) => exact.numerator, "a whole number");
}

/** Parses a count of devices on one node or of one pod. */
export function parseDevices(value: unknown): Parsed {
  const parsed = parseCount(value);
  return "value" in parsed && parsed.value > MOST_COUNT
    ? { refused: `${shown(value)} is too large for a count` }
    : parsed;
}

/**
 * Parses an amount of GPU memory in MiB, rounded up. A number without a binary suffix is already MiB, as in HAMi, Volcano and KAI. With a
 * binary suffix it is bytes.
 */
export function parseMebibytes(value: unknown): Parsed {
  const toMebibytes = ({ numerator, denominator, bytes }: Exact): bigint => {
    if (!bytes) return numerator;
    const unit = denominator * 1_048_576n;
    return ((numerator + unit - 1n) / unit) * denominator;
  };
  return whole(value, toMebibytes, "whole MiB");
}

/** Parses a percentage of one GPU: a whole number from 0 to 100. */
export function parsePercent(value: unknown): Parsed {
  const parsed = parseCount(value);
  return "value" in parsed && parsed.value > 100 ? { refused: `${shown(value)} is more than 100 percent` } : parsed;
}

/** Parses a part of one GPU, more than 0 and at most 1. Returns parts per million, rounded to the nearest. */
export function parsePpm(value: unknown): Parsed {
  const exact = exactly(value);
  if ("refused" in exact) return exact;
  const { numerator, denominator } = exact;
  if (numerator <= 0n || numerator > denominator) return { refused: `${shown(value)} is not a part of one GPU` };
  const ppm = Number((numerator * 2_000_000n + denominator) / (2n * denominator));
  return ppm === 0 ? { refused: `${shown(value)} is less than a millionth of a GPU` } : { value: ppm };
}

/** Parses an amount of at least 0 that may have a fraction, as queues and quotas give GPUs. */
export function parseAmount(value: unknown): Parsed {
  const exact = exactly(value);
  if ("refused" in exact) return exact;
  const { numerator, denominator } = exact;
  if (numerator < 0n) return { refused: `${shown(value)} is less than 0` };
  const quotient = numerator / denominator;
  if (quotient > BigInt(Number.MAX_SAFE_INTEGER)) return { refused: `${shown(value)} is too large for a count` };
  return { value: Number(quotient) + Number(numerator % denominator) / Number(denominator) };
}

function whole(value: unknown, scaled: (exact: Exact) => bigint, what: string): Parsed {
  const exact = exactly(value);
  if ("refused" in exact) return exact;
  if (exact.numerator < 0n) return { refused: `${shown(value)} is less than 0` };
  const numerator = scaled(exact);
  if (numerator % exact.denominator !== 0n) return { refused: `${shown(value)} is not ${what}` };
  const count = numerator / exact.denominator;
  if (count > BigInt(Number.MAX_SAFE_INTEGER)) return { refused: `${shown(value)} is too large for a count` };
  return { value: Number(count) };
}

function exactly(value: unknown): Exact | { readonly refused: string } {
  const written = typeof value === "number" ? String(value) : value;
  if (typeof written !== "string") return { refused: `${shown(value)} is not a quantity` };
  const match = written.length > MOST_CHARACTERS ? null : FORM.exec(written);
  if (match === null) return { refused: `${shown(value)} is not a quantity` };
  const [, sign, digits = "", fraction = "", exponent, suffix] = match;
  const power = Number(exponent ?? 0) + (suffix === undefined ? 0 : (DECIMAL_EXPONENT[suffix] ?? 0)) - fraction.length;
  if (Math.abs(power) > MOST_EXPONENT + MOST_CHARACTERS) return { refused: `${shown(value)} is too large for a count` };
  const binary = suffix === undefined ? undefined : BINARY_EXPONENT[suffix];
  const mantissa = BigInt(`${digits}${fraction}`) * 2n ** BigInt(binary ?? 0);
  return {
    numerator: (sign === "-" ? -1n : 1n) * mantissa * 10n ** BigInt(Math.max(power, 0)),
    denominator: 10n ** BigInt(Math.max(-power, 0)),
    bytes: binary !== undefined,
  };
}

/** Formats the value for a sentence: at most 40 characters, and in quotes if it is a text. */
function shown(value: unknown): string {
  const written = JSON.stringify(value) ?? typeof value;
  return written.length > 40 ? `${written.slice(0, 39)}…` : written;
}
