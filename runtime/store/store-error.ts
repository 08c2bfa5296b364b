/** The reason why the store refused or failed. */
export type StoreErrorCode =
  /** No answer: the store is down or starting, or the connection broke. The statement may or may not have run. */
  | "unavailable"
  /** No answer in time. The statement may or may not have run. */
  | "timeout"
  /** Too many requests at once, or not enough memory at the moment. */
  | "overloaded"
  /** The query needs more rows, bytes or time than its bounds permit. */
  | "over-limit"
  /** The caller did not wait for the result. */
  | "canceled"
  | "disk-full"
  /** The statement or the rows are wrong. A retry cannot help. */
  | "rejected"
  /** A table, column or database is missing: the store lacks migrations. */
  | "not-migrated"
  /** The store has migrations that this program does not have, or different ones with the same name. */
  | "migration-mismatch"
  | "denied"
  /** Another process holds the embedded store's folder. */
  | "folder-locked";

/** Every failure of a store: a code to branch on, whether a retry can help, and the cause. */
export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly retriable: boolean;

  constructor(code: StoreErrorCode, message: string, options: { retriable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "StoreError";
    this.code = code;
    this.retriable = options.retriable;
  }
}
