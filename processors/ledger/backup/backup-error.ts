/** The reason why a backup or a restore was refused. */
export type BackupErrorCode =
  /** The folder of a new backup, or the store for a restore, is not empty. */
  | "not-empty"
  /** There is no manifest: the folder is not a backup, or the backup was interrupted. */
  | "no-backup"
  /** A file differs from the manifest, or the store accepted other rows than the file has. */
  | "damaged"
  /** A newer release wrote the backup. */
  | "newer"
  /** Runs were published again and dropped while they were being read. */
  | "superseded";

/** A refused backup or restore. The message is a sentence for the operator. */
export class BackupError extends Error {
  readonly code: BackupErrorCode;

  constructor(code: BackupErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "BackupError";
    this.code = code;
  }
}
