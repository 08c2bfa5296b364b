import { readFile, rename, writeFile } from "node:fs/promises";
import { mergeRanges, type Range } from "./ranges.ts";

/** The sent parts of a fleet's past, and the times when its exporters were scraped live. */
export interface HistoryRecord {
  readonly version: 1;
  /** The fleet of the record. Another fleet has its own past. */
  readonly seed: number;
  readonly gpus: number;
  readonly cluster: string;
  readonly sent: readonly Range[];
  readonly live: readonly Range[];
}

/** The fleet of a record. */
export type RecordedFleet = Pick<HistoryRecord, "seed" | "gpus" | "cluster">;

/** Reads the record of a fleet. Returns an empty one if there is none, if it cannot be read, or if it is of another fleet. */
export async function readRecord(path: string, fleet: RecordedFleet): Promise<HistoryRecord> {
  const empty: HistoryRecord = { version: 1, ...fleet, sent: [], live: [] };
  try {
    const record = JSON.parse(await readFile(path, "utf8")) as HistoryRecord;
    const isSame = record.seed === fleet.seed && record.gpus === fleet.gpus && record.cluster === fleet.cluster;
    return record.version === 1 && isSame && isRanges(record.sent) && isRanges(record.live) ? record : empty;
  } catch {
    // Without a record everything is sent again, under the same keys: nothing is duplicated.
    return empty;
  }
}

function isRanges(value: unknown): value is readonly Range[] {
  return Array.isArray(value) && value.every((each) => Array.isArray(each) && each.every(Number.isFinite));
}

/** Writes the record completely or not at all. */
async function writeRecord(path: string, record: HistoryRecord): Promise<void> {
  const merged = { ...record, sent: mergeRanges(record.sent), live: mergeRanges(record.live) };
  const temporary = `${path}.new`;
  await writeFile(temporary, `${JSON.stringify(merged)}\n`, { flush: true, mode: 0o600 });
  await rename(temporary, path);
}

/** A record on disk with one writer at a time. */
export interface RecordKeeper {
  readonly record: HistoryRecord;
  /** Changes the record. Resolves when the change is on disk. */
  update(change: (record: HistoryRecord) => HistoryRecord): Promise<void>;
}

/** Creates the keeper of a record at a path. */
export function createRecordKeeper(path: string, first: HistoryRecord): RecordKeeper {
  let record = first;
  let writing: Promise<void> = Promise.resolve();
  return {
    get record() {
      return record;
    },
    update(change) {
      record = change(record);
      // The next write repairs a failed one, because it contains everything.
      writing = writing.catch(() => {}).then(() => writeRecord(path, record));
      return writing;
    },
  };
}
