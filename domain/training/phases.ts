import type { HeldState } from "../allocation/allocate.ts";
import type { StretchPhase } from "./timeline.ts";

/** The parts of a run's bill, in the order of reports. `lost-estimated` is an estimate; all other phases are measured or reported. */
export const RUN_PHASES = [
  "waiting",
  "starting",
  "productive",
  "checkpointing",
  "recovering",
  "lost",
  "lost-estimated",
  "idle",
  "unobserved",
  "unavailable",
] as const;

/** See {@link RUN_PHASES}. */
export type RunPhase = (typeof RUN_PHASES)[number];

/** The phases by their titles in reports. */
export const PHASE_TITLES: Readonly<Record<RunPhase, string>> = {
  waiting: "waiting for the gang",
  starting: "starting",
  productive: "productive",
  checkpointing: "checkpointing",
  recovering: "recovering",
  lost: "lost progress",
  "lost-estimated": "lost progress (estimated)",
  idle: "idle",
  unobserved: "unobserved",
  unavailable: "GPU unavailable",
};

/**
 * Returns the phase of a held share by its state and by the stretch of its lane. Waiting, unobserved and unavailable time stays what it is.
 * While the lane starts, saves or recovers, all other time is of that phase: no GPU of the lane can make progress. Otherwise only active
 * time is productive or lost.
 */
export function phaseOf(state: HeldState, stretch: StretchPhase): RunPhase {
  if (state === "waiting" || state === "unobserved" || state === "unavailable") return state;
  if (stretch === "starting" || stretch === "recovering") return stretch;
  if (state === "starting") return "starting";
  if (stretch === "checkpointing") return stretch;
  if (state === "idle") return "idle";
  return stretch === "training" ? "productive" : stretch;
}
