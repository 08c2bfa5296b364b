/**
 * The kinds of oddity in an object: a quantity that is not a count, an empty or meaningless annotation, an invalid time, two contradicting
 * statements, a derived figure without a source of its own, something left out, a device that is not metered.
 */
export type RemarkReason = "quantity" | "annotation" | "time" | "contradiction" | "derived" | "left-out" | "unmetered";

/** An oddity of an object and how the projection handled it, as a sentence. Counters count by reason. */
export interface Remark {
  readonly reason: RemarkReason;
  readonly text: string;
}

/** The remarks of one projection. The projection appends to this list. */
export type Remarks = Remark[];
