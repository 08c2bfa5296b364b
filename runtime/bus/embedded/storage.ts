import { open } from "lmdb";
import type { Database } from "lmdb";
import { BusError } from "../bus.ts";
import type { TopicDeclaration } from "../bus.ts";
import type { GroupState } from "./group-state.ts";
import { openTurn } from "./turn.ts";
import type { Turn } from "./turn.ts";
import { createWriteQueue } from "../write-queue.ts";
import { makePrivateFolder, restrictFiles } from "../../private-folder.ts";

/** The version of the folder's layout. A folder of a later release is refused. */
const FOLDER_FORMAT = 1;

/** A stored topic. Its number replaces the name in every key. */
export interface TopicRecord extends TopicDeclaration {
  readonly id: number;
}

/** The bounds of a partition: the oldest offset, the next offset, and the bytes between them. */
export interface Head {
  readonly low: number;
  readonly next: number;
  readonly storedBytes: number;
}

/** A message that compaction will remove: superseded by a later one of its key, or a tombstone. */
export interface Garbage {
  readonly superseded: boolean;
  /** The digest of the key, in hexadecimal. */
  readonly digest: string;
}

/** The tables of the log, and the functions to read and write them. */
export interface Storage {
  readonly topics: Database<TopicRecord, string>;
  readonly heads: Database<Head, readonly [topicId: number, partition: number] & number[]>;
  readonly messages: Database<Buffer, Buffer>;
  readonly stamps: Database<Buffer, Buffer>;
  /** For compacted topics: the offset of a key's latest message. */
  readonly latest: Database<number, Buffer>;
  readonly garbage: Database<Garbage, Buffer>;
  readonly groups: Database<GroupState, string>;
  readonly offsets: Database<number, string[]>;
  readonly meta: Database<number | string, string>;
  /** Runs a read on the newest state, with the writes of other processes. */
  read<Result>(query: () => Result): Result;
  /**
   * Runs `change` inside a durable transaction and resolves with its result. `change` must check everything before it writes anything: it
   * shares its transaction with other changes, so an exception does not undo its writes.
   */
  write<Result>(change: () => Result, bytes?: number): Promise<Result>;
  /**
   * Returns a number that grows with every transaction of any process. It is a record and not LMDB's own transaction number, because that
   * one is visible while the transaction is still being synced, when readers do not see its data yet.
   */
  version(): number;
  /** Frees the reader slots of killed processes. Returns the number of freed slots. */
  dropDeadReaders(): number;
  close(): Promise<void>;
}

/**
 * Opens the log's folder, and creates it if it does not exist. Several processes of one machine may open it. LMDB forbids network file
 * systems (http://www.lmdb.tech/doc/, "Caveats").
 *
 * Durability: `overlappingSync` is off, so LMDB is in its classic mode, where `mdb_txn_commit` returns only after the pages and then the
 * meta page have been synced (http://www.lmdb.tech/doc/, mdb_env_open without MDB_NOSYNC and MDB_NOMETASYNC; lmdb-js's README, "Overlapping
 * Sync Options", describes the mode that is off here). A resolved `write` therefore survives SIGKILL and a power loss. `eventTurnBatching`
 * is off: with it, a failed commit rejects a promise inside lmdb-js 3.5 that callers cannot catch, which would end the process on a full
 * disk.
 *
 * A change runs on the event loop while its process holds the log's only write lock. A process whose loop is blocked, or that is stopped
 * (SIGSTOP, a debugger) at that moment, blocks all writers. A killed process does not: LMDB's lock is a robust mutex.
 *
 * Fails with `denied` if the folder's format is newer than this release, and with `unavailable` if the folder cannot be opened.
 */
export async function openStorage(folder: string): Promise<Storage> {
  const storage = await openFolder(folder);
  const format = storage.read(() => storage.meta.get("format"));
  if (format === undefined) {
    await storage.write(() => void storage.meta.put("format", FOLDER_FORMAT));
  } else if (typeof format !== "number" || format > FOLDER_FORMAT) {
    await storage.close();
    throw new BusError(
      "denied",
      `The log in ${folder} has format ${format}; this release reads up to ${FOLDER_FORMAT}.`,
      {
        retriable: false,
      },
    );
  }
  return storage;
}

async function openFolder(folder: string): Promise<Storage> {
  try {
    makePrivateFolder(folder);
    const turn = await openTurn(folder);
    return await turn.take(() => openTables(folder, turn));
  } catch (cause) {
    throw new BusError("unavailable", `The log in ${folder} cannot be opened.`, { retriable: false, cause });
  }
}

function openTables(folder: string, turn: Turn): Storage {
  const root = open({ path: folder, noSubdir: false, maxDbs: 16, overlappingSync: false, eventTurnBatching: false });
  restrictFiles(folder);
  const json = { encoding: "json" } as const;
  const binary = { encoding: "binary", keyEncoding: "binary" } as const;
  const meta = root.openDB<number | string, string>("meta", json);
  const versionNow = () => Number(meta.get("version") ?? 0);
  const queue = createWriteQueue(root, folder, {
    inTurn: turn.take,
    finish: () => void meta.put("version", versionNow() + 1),
  });

  const storage: Storage = {
    topics: root.openDB<TopicRecord, string>("topics", json),
    heads: root.openDB<Head, [number, number]>("heads", json),
    messages: root.openDB<Buffer, Buffer>("messages", binary),
    stamps: root.openDB<Buffer, Buffer>("stamps", binary),
    latest: root.openDB<number, Buffer>("latest", { encoding: "json", keyEncoding: "binary" }),
    garbage: root.openDB<Garbage, Buffer>("garbage", { encoding: "json", keyEncoding: "binary" }),
    groups: root.openDB<GroupState, string>("groups", json),
    offsets: root.openDB<number, string[]>("offsets", json),
    meta,
    read(query) {
      root.resetReadTxn();
      return query();
    },
    write: (change, bytes = 0) => queue.add(change, bytes),
    version: () => storage.read(versionNow),
    dropDeadReaders: () => root.readerCheck(),
    async close() {
      await queue.close();
      await root.close();
      await turn.close();
    },
  };
  return storage;
}
