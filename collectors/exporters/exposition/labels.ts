/** A parsed label block: the labels, the quoted metric name if there is one, and the length in bytes. */
export interface LabelBlock {
  readonly labels: ReadonlyMap<string, string>;
  readonly name?: string;
  readonly length: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const EQUALS = 61;
const CLOSE = 125;

/** The limits of a label block. */
export interface LabelLimits {
  readonly labels: number;
  /** The most characters of a name. */
  readonly labelName: number;
  /** The most characters of a value. */
  readonly labelValue: number;
}

/**
 * Reads `{a="b",c="d"}` from its opening brace, or returns why it cannot be read. All escapes of the format are supported (`\\`, `\"`,
 * `\n`). Any other backslash is literal, because exporters before 4.8.3 escape nothing. A quoted string without a value is the metric's
 * name (UTF-8 names of Prometheus 3).
 */
export function readLabels(page: Buffer, open: number, end: number, limits: LabelLimits): LabelBlock | string {
  const labels = new Map<string, string>();
  let name: string | undefined;
  let at = open + 1;
  for (;;) {
    at = skipBlanks(page, at, end);
    if (at >= end) return "an unclosed label block";
    if (page[at] === CLOSE) return { labels, length: at + 1 - open, ...(name === undefined ? {} : { name }) };
    const key = page[at] === QUOTE ? readQuoted(page, at, end) : readBareName(page, at, end);
    if (typeof key === "string") return key;
    if (key.text.length > limits.labelName) return `a label name of more than ${limits.labelName} characters`;
    at = skipBlanks(page, key.end, end);
    if (page[at] === EQUALS) {
      const valueStart = skipBlanks(page, at + 1, end);
      if (page[valueStart] !== QUOTE) return "a label value without quotes";
      const value = readQuoted(page, valueStart, end);
      if (typeof value === "string") return value;
      if (value.text.length > limits.labelValue) return `a label value of more than ${limits.labelValue} characters`;
      if (labels.has(key.text)) return `the label ${key.text} twice`;
      if (labels.size === limits.labels) return `more than ${limits.labels} labels`;
      labels.set(key.text, value.text);
      at = skipBlanks(page, value.end, end);
    } else if (key.quoted && name === undefined) {
      name = key.text;
    } else {
      return "a label without a value";
    }
    if (page[at] === COMMA) at += 1;
    else if (page[at] !== CLOSE) return "no comma between labels";
  }
}

interface Token {
  readonly text: string;
  readonly quoted: boolean;
  readonly end: number;
}

function readBareName(page: Buffer, start: number, end: number): Token | string {
  let at = start;
  while (at < end && isLabelByte(page[at]!, at > start)) at += 1;
  return at === start ? "an invalid label name" : { text: page.toString("latin1", start, at), quoted: false, end: at };
}

function readQuoted(page: Buffer, start: number, end: number): Token | string {
  let escaped = false;
  for (let at = start + 1; at < end; at++) {
    if (page[at] === BACKSLASH) {
      escaped = true;
      at += 1;
    } else if (page[at] === QUOTE) {
      const raw = page.toString("utf8", start + 1, at);
      return { text: escaped ? unescape(raw) : raw, quoted: true, end: at + 1 };
    }
  }
  return "an unclosed label value";
}

function unescape(raw: string): string {
  return raw.replace(/\\([\\"n])/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}

function isLabelByte(byte: number, inside: boolean): boolean {
  return (
    (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90) || byte === 95 || (inside && byte >= 48 && byte <= 57)
  );
}

function skipBlanks(page: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (page[at] === 32 || page[at] === 9)) at += 1;
  return at;
}
