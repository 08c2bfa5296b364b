/** Why a period is not closed. */
export type CloseErrorCode =
  /** It is not over, or its closing date has not come. */
  | "not-due"
  /** Somebody has closed it, or was first. */
  | "already-closed"
  /** A period before it is open and has charges. */
  | "earlier-open"
  /** Hours of it are not charged, or by other usage or rules than now. */
  | "unsettled"
  /** Sums of it are not exact. */
  | "breach"
  /** The invoice names what is not there. */
  | "invoice"
  /** Nothing was ever charged in it. */
  | "nothing-charged";

/** A close that was refused: nothing is closed by it. A sentence says why, and what to do. */
export class CloseError extends Error {
  readonly code: CloseErrorCode;
  /** Whether the same close can go through later by itself. */
  readonly retriable: boolean;

  constructor(code: CloseErrorCode, message: string) {
    super(message);
    this.name = "CloseError";
    this.code = code;
    this.retriable = code === "not-due" || code === "unsettled";
  }
}
