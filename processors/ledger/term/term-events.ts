import type { ChargeFindings } from "../charging/charge-window.ts";
import type { Closed } from "../closed/closed.ts";
import type { RunKind } from "../runs/runs.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";

/** The events of a term, for metrics and logs. */
export interface TermEvents {
  onRun(run: WindowOfCluster & { readonly kind: RunKind; readonly seconds: number; readonly rows: number }): void;
  /** The findings of charging a window, with breaches of the invariant. */
  onCharged(window: WindowOfCluster & { readonly findings: ChargeFindings }): void;
  /**
   * Called after each look: the number of waiting windows, the end of the last settled hour, milliseconds since the epoch, and the state of
   * the books.
   */
  onLooked(state: {
    readonly dirty: number;
    readonly settledUntilMillis: number | undefined;
    readonly closed: Closed;
    /** When the first charged hour began. */
    readonly begun: number | undefined;
    /** True if the books have changed since the previous look. */
    readonly isNew: boolean;
  }): void;
  /** The starts of ended hours that wait to be charged, or to be charged again. Called whenever they may have changed. */
  onWaiting(hours: readonly number[]): void;
  onDropped(runs: number): void;
  /** A look, a run or a drop failed. It is retried. */
  onError(error: unknown, window?: WindowOfCluster): void;
}
