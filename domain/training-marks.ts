import { LAST_MILLIS } from "./time.ts";

/**
 * The annotations or labels in which a training reports itself, on its pods or their owners. The time of a checkpoint is when it was
 * complete. Amounts of tokens are of the whole run, not of one pod.
 */
const TRAINING_MARKS = {
  step: "gpu-ledger/step",
  checkpointAt: "gpu-ledger/checkpoint-at",
  checkpointSeconds: "gpu-ledger/checkpoint-seconds",
  checkpointEverySeconds: "gpu-ledger/checkpoint-every-seconds",
  tokensPerStep: "gpu-ledger/tokens-per-step",
  tokensPerSecond: "gpu-ledger/tokens-per-second",
  parameters: "gpu-ledger/parameters",
} as const;

/** The report of a training at one time. A field is absent if its mark is absent or has another form. */
export interface TrainingMarks {
  /** The number of completed steps. */
  readonly step?: number;
  /** When the last checkpoint was complete, milliseconds since the epoch. */
  readonly checkpointAt?: number;
  /** How long the training stood still for the last checkpoint. */
  readonly checkpointSeconds?: number;
  /** The mean time between two checkpoints, as the owner states it. */
  readonly checkpointEverySeconds?: number;
  readonly tokensPerStep?: number;
  readonly tokensPerSecond?: number;
  /** The number of the model's parameters. */
  readonly parameters?: number;
}

type Reader = (text: string) => number | undefined;

const READERS: Readonly<Record<keyof TrainingMarks, Reader>> = {
  step: whole,
  checkpointAt: moment,
  checkpointSeconds: positive,
  checkpointEverySeconds: positive,
  tokensPerStep: whole,
  tokensPerSecond: positive,
  parameters: whole,
};

/** Returns the report in some annotations or labels; undefined if they have none. */
export function readTrainingMarks(texts: Readonly<Record<string, string>>): TrainingMarks | undefined {
  const read = Object.entries(TRAINING_MARKS).flatMap(([field, name]) => {
    const value = Object.hasOwn(texts, name) ? READERS[field as keyof TrainingMarks](texts[name]!) : undefined;
    return value === undefined ? [] : [[field, value] as const];
  });
  return read.length === 0 ? undefined : (Object.fromEntries(read) as TrainingMarks);
}

const NUMBER = /^\d{1,20}(\.\d{1,20})?(e\+?\d{1,2})?$/i;

/** Reads a number above 0, such as `45`, `0.5` or `7e9`. */
function positive(text: string): number | undefined {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** Reads a whole number from 0 on. */
function whole(text: string): number | undefined {
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Reads a time of ISO 8601 with its zone, or seconds since the epoch. Returns milliseconds since the epoch. */
function moment(text: string): number | undefined {
  const millis = TIME.test(text) ? Date.parse(text) : Math.floor((positive(text) ?? Number.NaN) * 1000);
  return millis >= 0 && millis <= LAST_MILLIS ? millis : undefined;
}
