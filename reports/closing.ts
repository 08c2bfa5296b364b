/** A close of a billing period that is refused, with the reason as a sentence. */
export class CloseRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "CloseRefused";
  }
}

/** A preview of the close of a billing period. Amounts are exact decimal texts. */
export interface ClosePreview {
  readonly currency: string;
  /** The amount that would be posted. */
  readonly posted: string;
  /** The part of it that belongs to no team. */
  readonly unowned: string;
  readonly unpricedGpuHours: string;
  /** The reasons for which the period cannot be closed now; empty if it can. */
  readonly objections: readonly string[];
  /** The differences to the last preview; undefined if there was none. */
  readonly differences: readonly { readonly what: string; readonly before: string; readonly now: string }[] | undefined;
}

/** Closes billing periods by the rules of the configuration. */
export interface Closing {
  /** Computes everything that a close would freeze. Fails with a `StoreError`. */
  preview(period: string, by: string): Promise<ClosePreview>;
  /** Closes a period. Fails with a {@link CloseRefused}, or with a `StoreError`. */
  close(period: string, of: { readonly by: string; readonly why: string }): Promise<void>;
}
