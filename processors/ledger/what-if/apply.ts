import type { ChangeRules } from "./change-rules.ts";
import { NO_ENERGY, type UsageClaim, type UsageSegment } from "../../../domain/allocation/segment.ts";
import type { UsageHour, UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import { modelMemoryMiB, usableMemoryMiB } from "../../../domain/gpu-model/names.ts";
import { gpuMemoryOf } from "../../../domain/share/gpu-memory.ts";
import { migProductOf } from "../../../domain/share/mig-product.ts";
import type { NodePrices } from "../charge/node-prices.ts";
import type { HolderChange, OtherGpus, PaidChange, SmallerPart } from "../../../runtime/config/what-if.ts";
import type { LeftBecause } from "./left.ts";
import { isNode } from "./node-match.ts";
import { isMeant, wantedBy } from "./wanted.ts";

/** A change of the past, prepared for the usage of many nodes and hours. */
export interface AppliedChanges {
  /**
   * Returns the usage of a node in an hour as it would have been, `hours` itself if nothing changes: the rows of the node, and of each GPU that would have been held instead, each
   * as the rows of one node. Rows come sorted by slot and time, and go so.
   */
  apply(hours: readonly UsageHour[]): readonly (readonly UsageHour[])[];
  /** The milliseconds of GPUs that the changes named and left as they were, by the reason. */
  readonly left: ReadonlyMap<LeftBecause, number>;
  /** The milliseconds of GPUs that the changes affected. */
  readonly changedMillis: number;
}

const PPM = 1_000_000n;

/** A change of usage rows. The removal of nodes is a rule beside them. */
export type UsageChange = HolderChange | PaidChange;

/**
 * Prepares changes. The first change that fits a holder counts. The work of a holder stays as measured, also on a smaller part or on another
 * GPU: a change of its speed is not known.
 */
export function prepareChanges(changes: readonly UsageChange[], rules: ChangeRules): AppliedChanges {
  const ofHolders = changes.filter((change) => change.what !== "pay").map(wantedBy);
  const pays = changes.filter((change) => change.what === "pay");
  const left = new Map<LeftBecause, number>();
  let changedMillis = 0;

  function leave(because: LeftBecause, { segment }: UsageHour): undefined {
    left.set(because, (left.get(because) ?? 0) + millisOf(segment));
    return undefined;
  }

  /** Returns the change of a claim, if one fits and can be made. */
  function changeOf(hour: UsageHour, index: number): HolderChange | undefined {
    const change = ofHolders.find((wanted) => isMeant(wanted, hour, index, rules.owners))?.change;
    if (change === undefined || change.what === "release") return change;
    const { claims, gpu } = hour.segment;
    if (claims.length > 1 || claims[index]!.claim.held.what !== "whole") return leave("shared", hour);
    const { memoryMaxMiB = 0 } = hour.telemetry[index] ?? {};
    if (change.what === "resize") {
      if ("mig" in change.to && profileOf(gpu, change.to.mig) === undefined) return leave("profile", hour);
      const memory = memoryOfPart(gpu, change.to);
      return memory !== undefined && memoryMaxMiB > memory ? leave("memory", hour) : change;
    }
    const memory = usableMemoryMiB(change.to.model);
    if (memory !== undefined && memoryMaxMiB > memory * change.to.count) return leave("memory", hour);
    return isPriced(otherHour(hour, index, change.to), change.to, rules.prices) ? change : leave("price", hour);
  }

  return {
    left,
    get changedMillis() {
      return changedMillis;
    },
    apply(hours) {
      const own: UsageHour[] = [];
      const others: (readonly UsageHour[])[] = [];
      const before = changedMillis;
      for (const metered of hours) {
        if (rules.packed?.leaves(metered) === true) {
          changedMillis += millisOf(metered.segment);
          continue;
        }
        if (rules.packed?.stays(metered) === true) leave("room", metered);
        const hour = pays.length === 0 ? metered : paidHour(metered, pays);
        if (hour !== metered) changedMillis += millisOf(hour.segment);
        const ofClaims = hour.segment.claims.map((_, index) => changeOf(hour, index));
        if (ofClaims.every((change) => change === undefined)) {
          own.push(hour);
          continue;
        }
        if (hour === metered) changedMillis += millisOf(hour.segment);
        ofClaims.forEach((change, index) => {
          if (change?.what === "move") others.push(rowsOf(otherHour(hour, index, change.to), change.to));
        });
        const changed = changedHour(hour, ofClaims);
        if (changed.segment.claims.length > 0 || !rules.freedLeave) own.push(changed);
      }
      const [first] = own;
      if (first === undefined) return others;
      if (!rules.isRemoved(first.cluster, first.node)) return changedMillis === before ? [hours] : [own, ...others];
      if (own.some(({ segment }) => segment.claims.length > 0)) {
        for (const hour of own) leave("held", hour);
        return [own, ...others];
      }
      for (const { segment } of own) changedMillis += millisOf(segment);
      return others;
    },
  };
}

/** Machines that are paid for in another way, by the machine and the way, so that rows of one machine stay rows of one machine. */
const PAID = new WeakMap<UsageMachine, Map<string, UsageMachine>>();

/** Returns a row as its node would have been paid for; the row itself if no change is for the node. */
function paidHour(hour: UsageHour, pays: readonly PaidChange[]): UsageHour {
  const { cluster, node, machine, segment } = hour;
  const pay = pays.find(({ where }) => isNode(where, { cluster, node, machine, gpu: segment.gpu }));
  if (pay === undefined || pay.as === machine.capacityType) return hour;
  const ofMachine = PAID.get(machine) ?? new Map<string, UsageMachine>();
  PAID.set(machine, ofMachine);
  const paid = ofMachine.get(pay.as) ?? { ...machine, capacityType: pay.as };
  ofMachine.set(pay.as, paid);
  return { ...hour, machine: paid };
}

/** Returns the row of the GPU itself: without the released and moved claims, and with the smaller parts. */
function changedHour(hour: UsageHour, ofClaims: readonly (HolderChange | undefined)[]): UsageHour {
  const kept = ofClaims.flatMap((change, index) =>
    change === undefined || change.what === "resize" ? [{ change, index }] : [],
  );
  const { segment, holders, telemetry } = hour;
  const only = kept[0]?.change?.what === "resize" ? kept[0].change.to : undefined;
  const layout = only !== undefined && "mig" in only ? migLayout(only.mig) : segment.gpu.layout;
  const claims = kept.map(({ change, index }) => {
    const claim = segment.claims[index]!;
    return change === undefined
      ? claim
      : smallerClaim(claim, segment, (change as HolderChange & { what: "resize" }).to);
  });
  return {
    ...hour,
    segment: {
      ...segment,
      gpu: { ...segment.gpu, layout },
      busyMillis: claims.length === 0 ? 0 : segment.busyMillis,
      claims,
    },
    holders: kept.map(({ index }) => holders[index]!),
    telemetry: kept.map(({ index }) => telemetry[index]!),
  };
}

function migLayout(profile: string): UsageSegment["gpu"]["layout"] {
  return { kind: "mig", instances: [{ id: "0", profile }] };
}

/** Returns a claim on a smaller part. Its work is the same, at most all of the part. */
function smallerClaim({ claim, stage, measured }: UsageClaim, { gpu }: UsageSegment, to: SmallerPart): UsageClaim {
  const covered = BigInt(measured.coveredMillis) * PPM;
  if ("ppm" in to) {
    const most = BigInt(measured.coveredMillis) * BigInt(to.ppm);
    const activityAtClaimsPpmMillis = smaller(measured.activityPpmMillis, most);
    const held = { what: "fraction", ppm: to.ppm } as const;
    return { claim: { ...claim, held }, stage, measured: { ...measured, activityAtClaimsPpmMillis } };
  }
  const { computeSlices } = profileOf(gpu, to.mig)!;
  const { product } = migProductOf(gpu.model, gpu.memoryMiB);
  const ofPart = (measured.activityPpmMillis * BigInt(product.computeSlices)) / BigInt(computeSlices);
  const activity = smaller(ofPart, covered);
  return {
    claim: { ...claim, held: { what: "instance", instance: "0" } },
    stage,
    measured: { ...measured, activityPpmMillis: activity, activityAtClaimsPpmMillis: activity },
  };
}

/** Returns the MIG profile of a name that a GPU's model lists; undefined if it lists none, or if the model is unknown. */
function profileOf({ model, memoryMiB }: UsageSegment["gpu"], profile: string) {
  const { product, isAssumed } = migProductOf(model, memoryMiB);
  return isAssumed ? undefined : product.profiles.find(({ name }) => name === profile);
}

/** Returns the memory of a smaller part in MiB; undefined if the GPU's memory is unknown. */
function memoryOfPart(gpu: UsageSegment["gpu"], to: SmallerPart): number | undefined {
  const whole = gpuMemoryOf(gpu)?.mib;
  if (whole === undefined) return undefined;
  if ("ppm" in to) return (whole * to.ppm) / Number(PPM);
  const { product } = migProductOf(gpu.model, gpu.memoryMiB);
  return (whole * profileOf(gpu, to.mig)!.memorySlices) / product.memorySlices;
}

/** Returns the row of the GPU that a holder would have held instead: a machine of its own, with the same holder and the same work. */
function otherHour(hour: UsageHour, index: number, to: OtherGpus): UsageHour {
  const { node, slot, segment, machine, holders, telemetry } = hour;
  const { model } = to;
  const memoryMiB = modelMemoryMiB(model);
  return {
    ...hour,
    node: `${node}/${slot} as ${model}`,
    slot: 0,
    gpuKey: "",
    machine: otherMachine(machine, to),
    segment: {
      ...segment,
      gpu: { model, ...(memoryMiB === undefined ? {} : { memoryMiB }), layout: { kind: "whole" } },
      unavailableBecause: "",
      isCordoned: false,
      energy: NO_ENERGY,
      claims: [segment.claims[index]!],
    },
    holders: [holders[index]!],
    telemetry: [telemetry[index]!],
  };
}

/** Machines of other GPUs, by the machine and what is held instead, so that rows of one machine stay rows of one machine. */
const OTHERS = new WeakMap<OtherGpus, WeakMap<UsageMachine, UsageMachine>>();

function otherMachine(machine: UsageMachine, to: OtherGpus): UsageMachine {
  const ofTo = OTHERS.get(to) ?? new WeakMap<UsageMachine, UsageMachine>();
  OTHERS.set(to, ofTo);
  const known = ofTo.get(machine);
  if (known !== undefined) return known;
  const { appearedAt, since } = machine;
  const { count, nodeGpus = count, instanceType, region = machine.region, zone = machine.zone, pool } = to;
  const { capacityType = machine.capacityType } = to;
  const other: UsageMachine = {
    appearedAt,
    since,
    delivered: Math.max(nodeGpus, count),
    ...definedOnly({ instanceType, region, zone, pool, capacityType }),
    labels: {},
  };
  ofTo.set(machine, other);
  return other;
}

/** Returns the rows of the other GPUs. They are the last GPUs of their node, because the first one has the node's own cost. */
function rowsOf(hour: UsageHour, { count }: OtherGpus): readonly UsageHour[] {
  const { delivered } = hour.machine;
  return Array.from({ length: count }, (_, index) => ({ ...hour, slot: delivered - count + index }));
}

/**
 * Returns true if all of a row has a price per GPU-hour, or a price of a node with a known number of GPUs. Else a price of a node would
 * depend on its other GPUs.
 */
function isPriced(
  { cluster, node, machine, segment }: UsageHour,
  { nodeGpus }: OtherGpus,
  prices: NodePrices,
): boolean {
  const of = { cluster, node, model: segment.gpu.model, machine };
  return prices
    .pieces(of, segment.fromMillis, segment.untilMillis)
    .every(({ price }) => price !== undefined && (price.entry.per === "gpu-hour" || nodeGpus !== undefined));
}

function millisOf({ fromMillis, untilMillis }: UsageSegment): number {
  return untilMillis - fromMillis;
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function definedOnly<Of extends object>(of: Of): { [Key in keyof Of]: NonNullable<Of[Key]> } {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as never;
}
