/**
 * What kind of oddity a projection met: a quantity that is no count, an annotation that says nothing or nonsense, a
 * time that is none, two statements that disagree, a figure that was worked out because nothing says it, something left
 * out, a device that is not metered.
 */
export type RemarkReason = "quantity" | "annotation" | "time" | "contradiction" | "derived" | "left-out" | "unmetered";

/** What was odd about an object and what was made of it, in a sentence; the reason is what counters count. */
export interface Remark {
  readonly reason: RemarkReason;
  readonly text: string;
}

/** Collects the remarks of one projection. */
export type Remarks = Remark[];
