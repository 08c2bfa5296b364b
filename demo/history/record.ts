import { readFile, rename, writeFile } from "node:fs/promises";
import { mergeRanges, type Range } from "./ranges.ts";

/** What has been sent of a fleet's past, and when its exporters were scraped while they ran. */
export interface HistoryRecord {
  readonly version: 1;
  /** The fleet that all of it is about: another one has a past of its own. */
  readonly seed: number;
  readonly gpus: number;
  readonly cluster: string;
  readonly sent: readonly Range[];
  readonly live: readonly Range[];
}

/** Which fleet a record is about. */
export type RecordedFleet = Pick<HistoryRecord, "seed" | "gpus" | "cluster">;

/** Reads the record of a fleet; an empty one where there is none, it cannot be read, or it is another fleet's. */
export async function readRecord(path: string, fleet: RecordedFleet): Promise<HistoryRecord> {
  const empty: HistoryRecord = { version: 1, ...fleet, sent: [], live: [] };
  try {
    const record = JSON.parse(await readFile(path, "utf8")) as HistoryRecord;
    const isSame = record.seed === fleet.seed && record.gpus === fleet.gpus && record.cluster === fleet.cluster;
    return record.version === 1 && isSame && isRanges(record.sent) && isRanges(record.live) ? record : empty;
  } catch {
    // Without a record everything is sent again, under the same keys: nothing doubles.
    return empty;
  }
}

function isRanges(value: unknown): value is readonly Range[] {
  return Array.isArray(value) && value.every((each) => Array.isArray(each) && each.every(Number.isFinite));
}

/** Writes the record whole or not at all. */
export async function writeRecord(path: string, record: HistoryRecord): Promise<void> {
  const merged = { ...record, sent: mergeRanges(record.sent), live: mergeRanges(record.live) };
  const temporary = `${path}.new`;
  await writeFile(temporary, `${JSON.stringify(merged)}\n`, { flush: true });
  await rename(temporary, path);
}

/** A record on disk that is changed by one writer at a time. */
export interface RecordKeeper {
  readonly record: HistoryRecord;
  /** Changes the record; resolves when the change is on disk. */
  update(change: (record: HistoryRecord) => HistoryRecord): Promise<void>;
}

/** Keeps a record at a path. */
export function createRecordKeeper(path: string, first: HistoryRecord): RecordKeeper {
  let record = first;
  let writing: Promise<void> = Promise.resolve();
  return {
    get record() {
      return record;
    },
    update(change) {
      record = change(record);
      // A write that failed is made good by the next one, which holds everything.
      writing = writing.catch(() => {}).then(() => writeRecord(path, record));
      return writing;
    },
  };
}
