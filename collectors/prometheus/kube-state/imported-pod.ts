import { IMPORTED_MARK } from "../../../domain/workload.ts";
import type { ImportedTimes } from "./pod-times.ts";
import type { MissingData } from "./remarks.ts";
import type { States } from "./states.ts";

const WITHOUT_IMAGES = "without images";

/** Returns the value of the annotation {@link IMPORTED_MARK} of a pod that lacks some data. */
export function importedMark(missing: readonly MissingData[]): string {
  const without = missing.map((each) => (each === "labels of pods" ? "without labels" : `without ${each}`));
  return ["Prometheus", ...without].join(", ");
}

/** Returns whether a pod with these annotations was imported without the images of its containers. */
export function lacksImages(annotations: Readonly<Record<string, string>>): boolean {
  return annotations[IMPORTED_MARK]?.split(", ").includes(WITHOUT_IMAGES) === true;
}

/** A pod of the series. */
export interface ImportedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly states: States;
  readonly times: ImportedTimes;
  /** The value of the annotation {@link IMPORTED_MARK}. */
  readonly mark: string;
}
