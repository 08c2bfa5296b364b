/** The reason why a period is not closed. */
export type CloseErrorCode =
  /** The period has not ended, or its closing date has not come. */
  | "not-due"
  /** The period is already closed, or another close was first. */
  | "already-closed"
  /** An earlier period is open and has charges. */
  | "earlier-open"
  /** Hours of the period are not charged, or were charged from other usage or other rules than the current ones. */
  | "unsettled"
  /** Sums of the period are not exact. */
  | "breach"
  /** The invoice is in another currency, or its accounts do not match `closing.accounts`. */
  | "invoice"
  /** The exports of providers' bills have no invoice yet. */
  | "provisional"
  /** The period has no charges. */
  | "nothing-charged";

/** A refused close. Nothing was closed. The message gives the reason and what to do. */
export class CloseError extends Error {
  readonly code: CloseErrorCode;
  /** True if the same close can succeed later by itself. */
  readonly retriable: boolean;

  constructor(code: CloseErrorCode, message: string) {
    super(message);
    this.name = "CloseError";
    this.code = code;
    this.retriable = code === "not-due" || code === "unsettled" || code === "provisional";
  }
}
