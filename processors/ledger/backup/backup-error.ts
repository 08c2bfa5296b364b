/** Why a backup or a restore was refused. */
export type BackupErrorCode =
  /** The folder of a new backup, or the store of a restore, has something already. */
  | "not-empty"
  /** There is no manifest: it is no backup, or one that was cut off. */
  | "no-backup"
  /** A file is not as the manifest says, or the store took other rows than it has. */
  | "damaged"
  /** A newer release wrote it. */
  | "newer"
  /** What was being read was published again and dropped. */
  | "superseded";

/** A backup or a restore that was refused, in a sentence for whoever asked for it. */
export class BackupError extends Error {
  readonly code: BackupErrorCode;

  constructor(code: BackupErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "BackupError";
    this.code = code;
  }
}
