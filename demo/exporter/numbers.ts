import type { Series } from "./row.ts";

const ZERO = 48;
const POINT = 46;
const MINUS = 45;
const MILLION = 1e6;
/** The limit up to which a double distinguishes millionths. */
const MOST_SIX = 8e9;

/** Writes a number like the exporter. Returns its end. Every exporter's number is ASCII. */
export function writeNumber(into: Buffer, at: number, value: number, format: Series["format"]): number {
  switch (format) {
    case "whole":
      return writeWhole(into, at, Math.round(value));
    case "six":
      return writeSix(into, at, value);
    case "short":
      return writeText(into, at, shortFloat(value));
  }
}

function writeWhole(into: Buffer, at: number, value: number): number {
  if (value < 0) {
    into[at] = MINUS;
    return writeWhole(into, at + 1, -value);
  }
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits += 1;
  let rest = value;
  for (let i = at + digits - 1; i >= at; i--) {
    const next = Math.floor(rest / 10);
    into[i] = ZERO + (rest - next * 10);
    rest = next;
  }
  return at + digits;
}

function writeSix(into: Buffer, at: number, value: number): number {
  if (value < 0 || value > MOST_SIX) return writeText(into, at, value.toFixed(6));
  const scaled = Math.round(value * MILLION);
  const whole = Math.floor(scaled / MILLION);
  const end = writeWhole(into, at, whole);
  into[end] = POINT;
  let rest = scaled - whole * MILLION;
  for (let i = end + 6; i > end; i--) {
    const next = Math.floor(rest / 10);
    into[i] = ZERO + (rest - next * 10);
    rest = next;
  }
  return end + 7;
}

function writeText(into: Buffer, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) into[at + i] = text.charCodeAt(i);
  return at + text.length;
}

/**
 * Returns a float in the form of prometheus/common (expfmt/text_create.go, writeFloat, by strconv.AppendFloat(value, 'g', -1, 64)): the
 * shortest digits that parse to it, with an exponent of at least two digits below 1e-4 and from a million on.
 */
export function shortFloat(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < MILLION) return String(value);
  const [digits, exponent] = value.toExponential().split("e");
  const power = Number(exponent);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
