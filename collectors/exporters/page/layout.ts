import type { Steps } from "../../../runtime/steps.ts";
import type { ExpositionSample } from "../exposition/parse.ts";

/**
 * The text of a page that targets of the same kind share. For each number it has the text before its label block (line feed, HELP and TYPE
 * lines, the metric's name) and the index of the target's label block. After the last number comes the tail. The label blocks themselves
 * belong to the target.
 */
export interface Layout {
  /** All texts in sequence. The text of number i is `[textStarts[i], textStarts[i + 1])`. The tail comes last. */
  readonly texts: Buffer;
  readonly textStarts: Uint32Array;
  /** The label block of each number, as an index into the target's blocks. */
  readonly blocks: Uint16Array;
  /** For each number, the end of the run of numbers of its family. Within a run, blocks may change their order. */
  readonly runEnds: Uint16Array;
  readonly bytes: number;
}

/** A page that was cut into the shared part and the target's own part. */
export interface CutPage {
  readonly key: string;
  readonly layout: Layout;
  readonly blocks: Buffer;
  readonly blockStarts: Uint32Array;
}

const MOST_NUMBERS = 65_535;
const NUMBERS_OF_STEP = 1024;
/** The bytes of a page that are cut in one step. A page with long labels has few numbers. */
const BYTES_OF_STEP = 128 * 1024;
const PLAIN_DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Cuts a page at its numbers, in steps. `undefined` if a template would not help or not be exact: a sample with a timestamp or with a value
 * that is not a plain decimal, or more numbers than an index can hold.
 */
export function* cutPage(page: Buffer, samples: readonly ExpositionSample[]): Steps<CutPage | undefined> {
  if (samples.length === 0 || samples.length > MOST_NUMBERS) return undefined;
  const blockIds = new Map<string, number>();
  const blockTexts: Buffer[] = [];
  const texts: Buffer[] = [];
  const textStarts = new Uint32Array(samples.length + 2);
  const blocks = new Uint16Array(samples.length);
  let from = 0;
  let textLength = 0;
  let stepped = 0;
  for (const [i, sample] of samples.entries()) {
    if (i % NUMBERS_OF_STEP === 0 || from - stepped > BYTES_OF_STEP) {
      stepped = from;
      yield;
    }
    if (sample.timestampMillis !== undefined || !PLAIN_DECIMAL.test(sample.valueText)) return undefined;
    const block = page.toString("latin1", sample.nameEnd, sample.valueStart);
    let id = blockIds.get(block);
    if (id === undefined) {
      blockIds.set(block, (id = blockIds.size));
      blockTexts.push(page.subarray(sample.nameEnd, sample.valueStart));
    }
    blocks[i] = id;
    texts.push(page.subarray(from, sample.nameEnd));
    textLength += sample.nameEnd - from;
    textStarts[i + 1] = textLength;
    from = sample.valueEnd;
  }
  texts.push(page.subarray(from));
  textStarts[samples.length + 1] = textLength + page.length - from;
  yield;
  const text = Buffer.concat(texts);
  const runEnds = runsOf(samples);
  const blockStarts = new Uint32Array(blockTexts.length + 1);
  blockTexts.forEach((block, i) => (blockStarts[i + 1] = blockStarts[i]! + block.length));
  yield;
  return {
    key: `${text.toString("latin1")}\u0000${Buffer.from(blocks.buffer).toString("latin1")}`,
    layout: { texts: text, textStarts, blocks, runEnds, bytes: text.length + samples.length * 8 },
    blocks: Buffer.concat(blockTexts),
    blockStarts,
  };
}

function runsOf(samples: readonly ExpositionSample[]): Uint16Array {
  const ends = new Uint16Array(samples.length);
  let end = samples.length;
  for (let i = samples.length - 1; i >= 0; i--) {
    if (i + 1 < samples.length && samples[i]!.name !== samples[i + 1]!.name) end = i + 1;
    ends[i] = end;
  }
  return ends;
}
