import { atOnce, type Steps } from "../../../runtime/steps.ts";
import { PageError } from "../http/page-error.ts";
import { readLabels, type LabelBlock, type LabelLimits } from "./labels.ts";
import { parseValue } from "./value.ts";

/** A sample of a page, with the positions of its parts so that a template can be cut from the page. */
export interface ExpositionSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** NaN and the infinities are included. `undefined` if the text is not a number (`valueText` has it). */
  readonly value: number | undefined;
  readonly valueText: string;
  /** Milliseconds since the epoch; absent if the line has no timestamp. */
  readonly timestampMillis?: number;
  readonly line: number;
  /** Byte offsets: the start of the line, the end of its name, the value's start and end, the line's end. */
  readonly start: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly end: number;
}

/** A line that is neither a sample nor a comment. */
export interface MalformedLine {
  readonly line: number;
  readonly text: string;
  readonly why: string;
}

/** The metadata of a metric family. */
export interface FamilyMeta {
  type?: string;
  help?: string;
  unit?: string;
}

/** The limits of a page. */
export interface ExpositionLimits extends LabelLimits {
  /** The most series. The same limit applies to malformed lines and to families. */
  readonly series: number;
  readonly lineBytes: number;
}

const UNLIMITED: ExpositionLimits = {
  series: Infinity,
  lineBytes: Infinity,
  labels: Infinity,
  labelName: Infinity,
  labelValue: Infinity,
};

/** A parsed page. Malformed lines are listed, and all other lines are kept. */
export interface Exposition {
  readonly samples: readonly ExpositionSample[];
  readonly families: ReadonlyMap<string, FamilyMeta>;
  readonly malformed: readonly MalformedLine[];
  /** True if the page has an OpenMetrics end marker. */
  readonly ended: boolean;
  /** True if the last line has no line feed. */
  readonly unterminated: boolean;
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const TAB = 9;
const HASH = 35;
const BRACE = 123;
const CLOSING_BRACE = 125;

/** The most characters that are kept of a malformed line, or of a value that is not a number. */
const LONGEST_TEXT = 200;
const LINES_OF_STEP = 256;
const BYTES_OF_STEP = 64 * 1024;

/**
 * The reference parser. It reads the whole Prometheus text format 0.0.4, and the parts of OpenMetrics 1.0 that pages contain (exemplars,
 * units, the end marker, times in seconds), with quoted UTF-8 names. It is slow and simple; templates must give the same result. A
 * malformed line is listed with its number and the reason, and does not affect other lines. Throws a {@link PageError} `too-many-series` at
 * the first line beyond the limits.
 */
export function* parseSteps(page: Buffer, limits: ExpositionLimits): Steps<Exposition> {
  const samples: ExpositionSample[] = [];
  const families = new Map<string, FamilyMeta>();
  const malformed: MalformedLine[] = [];
  const blocks = new Map<string, LabelBlock>();
  const openMetrics = page.subarray(-8).toString("latin1").trimEnd().endsWith("# EOF");
  let ended = false;
  let line = 0;
  let steppedAt = 0;
  for (let start = 0; start < page.length;) {
    line += 1;
    if (line % LINES_OF_STEP === 0 || start - steppedAt > BYTES_OF_STEP) {
      yield;
      steppedAt = start;
    }
    const feed = page.indexOf(LINE_FEED, start);
    const next = feed < 0 ? page.length : feed + 1;
    let end = feed < 0 ? page.length : feed;
    if (end > start && page[end - 1] === CARRIAGE_RETURN) end -= 1;
    const first = skipBlanks(page, start, end);
    if (end - start > limits.lineBytes) {
      const text = page.toString("utf8", start, start + LONGEST_TEXT);
      malformed.push({ line, text, why: `a line of more than ${limits.lineBytes} bytes` });
    } else if (first < end && page[first] === HASH) {
      const comment = page.toString("utf8", first, end);
      if (comment === "# EOF") ended = true;
      else readComment(comment, families);
    } else if (first < end) {
      const sample = readSample(page, first, end, { line, openMetrics, blocks, limits });
      if (typeof sample !== "string") samples.push(sample);
      else malformed.push({ line, text: page.toString("utf8", start, end).slice(0, LONGEST_TEXT), why: sample });
    }
    const most = Math.max(samples.length, malformed.length, families.size);
    if (most > limits.series)
      throw new PageError("too-many-series", `more series, families or unreadable lines than ${limits.series}`);
    start = next;
  }
  return { samples, families, malformed, ended, unterminated: page.length > 0 && page.at(-1) !== LINE_FEED };
}

/** Parses a page like {@link parseSteps}, in one step and without limits. */
export function parseExposition(page: Buffer): Exposition {
  return atOnce(parseSteps(page, UNLIMITED));
}

function readComment(comment: string, families: Map<string, FamilyMeta>): void {
  const match = /^#[ \t]+(HELP|TYPE|UNIT)[ \t]+("(?:[^"\\]|\\.)*"|\S+)(?:[ \t]+(.*))?$/s.exec(comment);
  if (match === null) return;
  const name = match[2]!.startsWith('"') ? unescapeText(match[2]!.slice(1, -1)) : match[2]!;
  const family = families.get(name) ?? {};
  families.set(name, family);
  const rest = match[3] ?? "";
  if (match[1] === "HELP") family.help = unescapeText(rest);
  else if (match[1] === "TYPE") family.type = rest.trim();
  else family.unit = rest.trim();
}

interface ReadingOfPage {
  readonly line: number;
  readonly openMetrics: boolean;
  readonly blocks: Map<string, LabelBlock>;
  readonly limits: LabelLimits;
}

function readSample(
  page: Buffer,
  start: number,
  end: number,
  { line, openMetrics, blocks, limits }: ReadingOfPage,
): ExpositionSample | string {
  let at = start;
  if (page[at] !== BRACE) {
    while (at < end && isNameByte(page[at]!, at > start)) at += 1;
    if (at === start) return "no metric name";
  }
  const nameEnd = at;
  let name = page.toString("latin1", start, nameEnd);
  at = skipBlanks(page, at, end);
  let labels: ReadonlyMap<string, string> = NO_LABELS;
  if (page[at] === BRACE) {
    const read = readBlock(page, at, end, blocks, limits);
    if (typeof read === "string") return read;
    if (read.name !== undefined) {
      if (name !== "") return "two metric names";
      name = read.name;
    }
    labels = read.labels;
    at += read.length;
  }
  if (name === "") return "no metric name";
  const valueStart = skipBlanks(page, at, end);
  // A value is separated from a bare name by a blank. A name that runs into other bytes is not a name.
  if (valueStart === nameEnd) return valueStart === end ? "no value" : "an invalid metric name";
  if (valueStart === end) return "no value";
  return readValue(page, { name, labels, line, start, nameEnd }, valueStart, end, openMetrics);
}

/**
 * Returns the label block that opens at `open`, or why it is malformed. Pages repeat each block in every family, so blocks are cached by
 * their bytes, and samples with equal blocks share one map. A block that an exemplar's brace hides is parsed again.
 */
function readBlock(
  page: Buffer,
  open: number,
  end: number,
  blocks: Map<string, LabelBlock>,
  limits: LabelLimits,
): LabelBlock | string {
  const bytes = page.toString("latin1", open, open + 1 + page.subarray(open, end).lastIndexOf(CLOSING_BRACE));
  const known = blocks.get(bytes);
  if (known !== undefined) return known;
  const read = readLabels(page, open, end, limits);
  if (typeof read !== "string" && read.length === bytes.length) blocks.set(bytes, read);
  return read;
}

type Head = Pick<ExpositionSample, "name" | "labels" | "line" | "start" | "nameEnd">;

function readValue(
  page: Buffer,
  { name, labels, line, start, nameEnd }: Head,
  valueStart: number,
  end: number,
  openMetrics: boolean,
): ExpositionSample | string {
  let valueEnd = valueStart;
  while (valueEnd < end && page[valueEnd] !== SPACE && page[valueEnd] !== TAB) valueEnd += 1;
  const written = page.toString("latin1", valueStart, valueEnd);
  const value = parseValue(written);
  const sample = { name, labels, value, valueText: written, line, start, nameEnd, valueStart, valueEnd, end };
  if (value === undefined) {
    // A value that is not a number is read to the end of the line: exporters print sentences, such as errors, in place of the value.
    const text = page.toString("utf8", valueStart, end).trimEnd();
    const valueText = text.slice(0, LONGEST_TEXT);
    return { ...sample, valueText, valueEnd: valueStart + Buffer.byteLength(text) };
  }
  if (valueEnd === end) return sample;
  const rest = page.toString("utf8", valueEnd, end).trim();
  if (rest === "") return sample;
  const match = /^([^\s#]+)?\s*(#\s*\{.*)?$/s.exec(rest);
  if (match === null) return "more than a value and a time";
  if (match[2] !== undefined && !isExemplar(match[2])) return "an exemplar that cannot be read";
  if (match[1] === undefined) return sample;
  const time = parseValue(match[1]);
  if (time === undefined || !Number.isFinite(time)) return "a time that is not a number";
  return { ...sample, timestampMillis: Math.round(openMetrics ? time * 1000 : time) };
}

/** Returns whether a text has the shape of an OpenMetrics exemplar: `# {labels} value [time]`. Its content is not kept. */
function isExemplar(text: string): boolean {
  const body = Buffer.from(text.slice(1).trimStart());
  const read = readLabels(body, 0, body.length, UNLIMITED);
  if (typeof read === "string") return false;
  const numbers = body.toString("utf8", read.length).trim().split(/\s+/);
  return numbers.length <= 2 && numbers.every((part) => parseValue(part) !== undefined);
}

const NO_LABELS: ReadonlyMap<string, string> = new Map();

function skipBlanks(page: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (page[at] === SPACE || page[at] === TAB)) at += 1;
  return at;
}

/** Returns whether a byte belongs to a name: `[a-zA-Z_:][a-zA-Z0-9_:]*` in the format's specification. */
function isNameByte(byte: number, inside: boolean): boolean {
  return (
    (byte >= 97 && byte <= 122) ||
    (byte >= 65 && byte <= 90) ||
    byte === 95 ||
    byte === 58 ||
    (inside && byte >= 48 && byte <= 57)
  );
}

function unescapeText(text: string): string {
  return text.replace(/\\([\\n"])/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}
