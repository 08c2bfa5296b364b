import { MOST_MESSAGE_BYTES } from "../../../runtime/bus/bus.ts";
import type { Steps } from "../../../runtime/steps.ts";
import type { ExpositionLimits, ExpositionSample, FamilyMeta } from "../exposition/parse.ts";
import type { PlanLimits, PlannedDrop } from "../fold/plan.ts";
import type { Program } from "../fold/program.ts";
import type { Template } from "./templates.ts";

/** The limits of a page. A page beyond them is a failed scrape. */
export interface PageLimits extends ExpositionLimits, PlanLimits {
  /** The largest message of one host, in bytes. */
  readonly messageBytes: number;
}

/** The limits of the service, unless the configuration sets others. */
export const PAGE_LIMITS: PageLimits = {
  series: 100_000,
  devices: 10_000,
  messageBytes: MOST_MESSAGE_BYTES,
  // With all pod labels, a series has a few dozen labels on a line of a few kilobytes.
  lineBytes: 64 * 1024,
  labels: 256,
  labelName: 512,
  labelValue: 4096,
};

/** The parts of a plan that every kind of pages has. */
export interface KnownPlan {
  readonly drops: readonly PlannedDrop[];
  /** True if any line belongs to a known program of this kind. */
  readonly known: boolean;
}

/** The plan of a page: everything that follows from its text without its numbers. */
export interface PlannedPage extends KnownPlan {
  readonly program: Program;
  readonly columns: readonly string[];
  /** The number of GPUs on the page. Instances and sharing pods of one GPU count as one. */
  readonly gpus: number;
  readonly hosts: Template["hosts"];
}

/** A kind of pages: how the series of a page become rows. `Source` has the parts of a target that the kind needs. */
export interface PageKind<Source, Plan extends KnownPlan = PlannedPage> {
  /** The programs that serve such pages, for messages: "GPU exporter". */
  readonly programs: string;
  /** Plans a page in steps. Throws a `PageError` if it is beyond the limits. */
  plan(
    samples: readonly ExpositionSample[],
    families: ReadonlyMap<string, FamilyMeta>,
    limits: PageLimits,
    source: Source,
  ): Steps<Plan>;
}
