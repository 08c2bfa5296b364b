import type { Run } from "./identity.ts";
import type { RunPod } from "./run-pod.ts";

/** The pods of a run that stop together, in order of their creation. */
export type Lane = readonly RunPod[];

/**
 * Divides the pods of a run into lanes. A gang is one lane. Of other runs each pod is a lane of its own, with the pods that replaced it: a
 * pod takes the place of the one that ended first without success and was not replaced yet. Other pods are new work.
 */
export function lanesOf({ isGang, pods }: Pick<Run, "isGang" | "pods">): readonly Lane[] {
  if (isGang) return [pods];
  const lanes: RunPod[][] = [];
  for (const pod of pods) {
    const free = lanes.filter((lane) => isOpen(lane.at(-1)!, pod.created));
    const lane = free.toSorted((a, b) => a.at(-1)!.end!.at - b.at(-1)!.end!.at)[0];
    if (lane === undefined) lanes.push([pod]);
    else lane.push(pod);
  }
  return lanes;
}

function isOpen({ end }: RunPod, at: number): boolean {
  return end !== undefined && end.reason !== "completed" && end.at <= at;
}
