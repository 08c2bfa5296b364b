import type { Fleet } from "../../fleet/fleet.ts";
import { hash, hashText, roll, uuidOf } from "../../fleet/hash.ts";
import type { FleetNode, Slot } from "../../fleet/node.ts";
import type { FleetPod } from "../../fleet/pod.ts";
import { wholeSecond } from "../../fleet/span.ts";
import { tenancyAt } from "../../fleet/tenancy.ts";
import { outagesBetween, type Outage } from "./outages.ts";
import { HOUR, MINUTE, SECOND } from "./times.ts";

/** A pod of the fleet from its creation to its deletion. All times are milliseconds since the epoch. */
export interface PodLife {
  readonly pod: FleetPod;
  readonly node: FleetNode;
  readonly slots: readonly Slot[];
  /** The UID in the exporter's page, except for a pod that was created again when its node came back. */
  readonly uid: string;
  /** The time when its job was submitted. The job waits in a queue until the pod is created. */
  readonly queuedMillis: number;
  readonly createdMillis: number;
  /** `Infinity` if the pod was never bound. */
  readonly boundMillis: number;
  readonly startMillis: number;
  readonly endMillis: number;
  readonly askedToEndMillis: number;
  readonly goneMillis: number;
  readonly hasFailed: boolean;
  /** True if the pod ended because its node was taken away. */
  readonly isLost: boolean;
}

/** The longest time between a pod's creation and its start. */
const LONGEST_WAIT = 40 * MINUTE;
const LONGEST_WAIT_OF_RESIDENTS = 12 * HOUR;
/** How long finished jobs stay (`ttlSecondsAfterFinished`). */
const FINISHED_STAY = 10 * MINUTE;
const GRACE = 30 * SECOND;

/** Returns the lives of all pods of the fleet that exist at a time, or whose job is queued then, in the order of the nodes. */
export function livesAt(fleet: Fleet, timeMillis: number): PodLife[] {
  return livesBetween(fleet, timeMillis, timeMillis);
}

/** Returns the same for any moment of a time, both ends included. */
export function livesBetween(fleet: Fleet, fromMillis: number, untilMillis: number): PodLife[] {
  const bound = new Map<string, { readonly pod: FleetPod; readonly node: FleetNode; readonly slots: Slot[] }>();
  for (const node of fleet.nodes) {
    for (const slot of node.gpus.flatMap(({ slots }) => slots)) {
      let at = fromMillis - FINISHED_STAY;
      const longestWait = slot.resident === undefined ? LONGEST_WAIT : LONGEST_WAIT_OF_RESIDENTS;
      while (at < untilMillis + longestWait) {
        const tenancy = tenancyAt(slot, at);
        at = tenancy.untilMillis;
        const { pod } = tenancy;
        if (pod === undefined) continue;
        const known = bound.get(pod.uid);
        if (known === undefined) bound.set(pod.uid, { pod, node, slots: [slot] });
        else known.slots.push(slot);
      }
    }
  }
  return [...bound.values()]
    .flatMap((each) => livesOf(each.pod, each.node, each.slots))
    .filter((life) => life.queuedMillis <= untilMillis && fromMillis < life.goneMillis);
}

/** Returns the lives under one pod's name: one, or several if its node was taken away in between. */
function livesOf(pod: FleetPod, node: FleetNode, slots: readonly Slot[]): PodLife[] {
  const first = wholeLife(pod, node, slots);
  const lives: PodLife[] = [];
  let life = first;
  for (const outage of outagesBetween(node, first.boundMillis - 10 * MINUTE, pod.endMillis)) {
    if (life.startMillis > outage.fromMillis) {
      if (life.boundMillis < outage.untilMillis) life = delayed(life, outage);
      continue;
    }
    lives.push({
      ...life,
      endMillis: outage.fromMillis + GRACE,
      askedToEndMillis: outage.fromMillis,
      goneMillis: outage.fromMillis + 2 * GRACE,
      isLost: true,
    });
    const createdMillis = outage.fromMillis + 2 * GRACE + 2 * SECOND;
    const uid = uuidOf(hashText(outage.index, pod.uid));
    life = delayed({ ...life, uid, createdMillis, queuedMillis: createdMillis }, outage);
  }
  return [...lives, life].filter((each) => each.createdMillis < each.goneMillis);
}

/** Returns a life that begins on the machine that came back. */
function delayed(life: PodLife, outage: Outage): PodLife {
  const startMillis = Math.max(life.startMillis, wholeSecond(outage.untilMillis - GRACE));
  const boundMillis = Math.max(life.boundMillis, wholeSecond(outage.nodeReadyMillis + 5 * SECOND));
  const isTooLate = boundMillis >= life.endMillis;
  return { ...life, startMillis, boundMillis: isTooLate ? Infinity : boundMillis };
}

function wholeLife(pod: FleetPod, node: FleetNode, slots: readonly Slot[]): PodLife {
  const { startMillis, endMillis } = pod;
  const key = hashText(node.key, pod.uid);
  const boundMillis = Math.max(...slots.map((slot) => freeFrom(slot, startMillis)), startMillis - leadOf(pod, key));
  const createdMillis = pod.submittedMillis ?? boundMillis - wholeSecond(waitOf(pod, key));
  const isTraining = pod.type === "training";
  return {
    pod,
    node,
    slots,
    uid: pod.uid,
    queuedMillis:
      isTraining && pod.gang === undefined ? createdMillis - wholeSecond(10 * MINUTE * roll(key, 2)) : createdMillis,
    createdMillis,
    boundMillis,
    startMillis,
    endMillis,
    askedToEndMillis: isTraining ? Infinity : endMillis - 25 * SECOND,
    goneMillis: isTraining ? endMillis + FINISHED_STAY : endMillis,
    hasFailed: isTraining && endedEarly(pod, slots[0]!),
    isLost: false,
  };
}

/** Returns the time between a pod's binding and its start: images are pulled. The first of a gang is often bound long before. */
function leadOf({ type, gang, submittedMillis }: FleetPod, key: number): number {
  if (type === "training" && gang?.rank === 0 && submittedMillis === undefined) return 15 * MINUTE;
  return (8 + (hash(key, 3) % 32)) * SECOND;
}

function waitOf({ type, gang }: FleetPod, key: number): number {
  if (type === "training" && gang !== undefined) return gang.rank === 0 ? 2 * MINUTE : 17 * MINUTE;
  return type === "training" ? (3 + 600 * roll(key, 1)) * SECOND : 3 * SECOND;
}

/** Returns the time since when a slot has been free when its next holder starts. */
function freeFrom(slot: Slot, startMillis: number): number {
  const before = tenancyAt(slot, startMillis - 1);
  return before.pod === undefined ? before.fromMillis : startMillis;
}

/** Returns true if a job ended long before its planned time: such jobs have failed. */
function endedEarly({ startMillis, endMillis }: FleetPod, slot: Slot): boolean {
  const rest = tenancyAt(slot, endMillis).untilMillis - endMillis;
  return rest > 0.3 * (rest + endMillis - startMillis);
}
