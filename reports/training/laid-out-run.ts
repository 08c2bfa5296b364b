import type { Run } from "../../domain/training/identity.ts";
import type { RunLayout } from "../../domain/training/layout.ts";
import type { RunProgress } from "./read-progress.ts";

/** A run with its lanes and its reported progress, in order of time. */
export interface LaidOutRun extends RunProgress {
  readonly run: Run;
  readonly layout: RunLayout;
}
