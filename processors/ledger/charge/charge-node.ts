import type { UsageSegment } from "../../../domain/allocation/segment.ts";
import type { UsageHolder, UsageHour, UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import {
  chargeBeside,
  NO_OWNERS,
  type Charge,
  type ChargedHolder,
  type ChargeTrail,
  type Costs,
} from "../../../domain/charge/charge.ts";
import type { MachineDimension } from "../../../domain/charge/dimension.ts";
import type { EnergyFactors } from "../../../domain/energy/factors.ts";
import { multiply, ONE, type Rational } from "../../../domain/exact/rational.ts";
import { gpuPartOf } from "../../../domain/gpu-model/instance-types.ts";
import type { OwnerRules } from "../../../domain/owner/compile.ts";
import { NO_WORKLOAD, PLATFORM, podMarks, type Attribution, type OwnerSubject } from "../../../domain/owner/owner.ts";
import { ownersOf } from "../../../domain/owner/owners.ts";
import { payerOf, type Policy } from "../../../domain/policy/policy.ts";
import { chargeSlot, type ChargedSlot, type SlotLine, type SlotSegment } from "./charge-slot.ts";
import { withExcess } from "./excess.ts";
import type { NodePrices } from "./node-prices.ts";
import type { PlatformCost } from "./invoiced-prices.ts";

/** The rules by which charges are made. */
export interface Rules {
  readonly prices: NodePrices;
  readonly owners: OwnerRules;
  readonly policies: readonly Policy[];
  /** If absent, charges have no carbon. */
  readonly energy?: EnergyFactors | undefined;
  /** The costs of exports in the hour that belong to no node. */
  readonly platformCosts?: readonly PlatformCost[];
}

/** A team name that was given but not accepted, because it is not in the register or is reserved. */
export interface RefusedTeam {
  readonly team: string;
  readonly namespace: string;
  readonly workload: string;
}

/** The charges of one node over one hour under each policy, in the order of the policies, before anything is spread. */
export interface ChargedNode {
  readonly charges: readonly (readonly Charge[])[];
  /** By slot, the same for all policies. */
  readonly slots: readonly { readonly slot: number; readonly charged: ChargedSlot }[];
  /** Costs that belong to no slot and no node, the same for all policies. */
  readonly beside?: readonly Costs[];
  readonly refused: readonly RefusedTeam[];
}

/**
 * Makes the charges of one node over one hour from its usage rows, sorted by slot and time. Policies with the same share measures differ
 * only in who pays.
 */
export function chargeNode(hours: readonly UsageHour[], { prices, owners, policies, energy }: Rules): ChargedNode {
  const holders = createHolders(owners);
  const groups = groupRows(hours);
  const slotRules = { prices, ownerChanges: owners.changes, energy };
  const byMeasures = new Map<string, readonly { readonly slot: number; readonly charged: ChargedSlot }[]>();
  const chargedBy = (policy: Policy): typeof byMeasures extends Map<string, infer Value> ? Value : never => {
    const key = `${policy.migShare} ${policy.sharedBy}`;
    const known = byMeasures.get(key);
    if (known !== undefined) return known;
    const slots = groups.map((rows) => ({
      slot: rows[0]!.slot,
      charged: chargeSlot(rows, policy, slotRules),
    }));
    byMeasures.set(key, slots);
    return slots;
  };

  const charges = policies.map((policy) => {
    const slots = chargedBy(policy);
    const lines =
      policy.basis === "max"
        ? linesBySlot(slots).flatMap((ofSlot) => withExcess(ofSlot, policy))
        : slots.flatMap(({ charged }) => charged.lines);
    return [
      ...lines.map((line) => chargeOf(line, policy, holders)),
      ...slots.flatMap(({ slot, charged }) => (slot === 0 ? nonGpuCharges(charged) : [])),
    ];
  });
  return { charges, slots: chargedBy(policies[0]!), refused: holders.refused };
}

/** The owners of something, and their sources. */
interface Owned {
  readonly owners: Attribution["owners"];
  /** The rule of each owner. */
  readonly trail: ChargeTrail["owners"];
}

/** A holder of a segment, with the fields that all of its lines of the segment share. */
interface SegmentHolder extends Owned {
  readonly charged: ChargedHolder;
}

interface Holders {
  /** Returns the holder with its owners at a time. A line can be at another time than its segment if more was used than held. */
  of(segment: SlotSegment, claim: number, atMillis: number): SegmentHolder;
  /** Returns the owner of a machine, by the rules for its pool alone; undefined if no rule names a team. */
  ownerOf(machine: UsageMachine, atMillis: number): Owned | undefined;
  /** The refused team names of the holders that were looked up so far. */
  readonly refused: readonly RefusedTeam[];
}

/** Creates a lookup that finds each holder once for all of its lines, which are adjacent. */
function createHolders(rules: OwnerRules): Holders {
  const known = new Map<SlotSegment, SegmentHolder[]>();
  const refused: RefusedTeam[] = [];
  return {
    refused,
    of(segment, claim, at) {
      if (at !== segment.fromMillis) return holderOf(segment, claim, { rules, at, refused });
      const ofSegment = known.get(segment) ?? [];
      if (ofSegment.length === 0) known.set(segment, ofSegment);
      return (ofSegment[claim] ??= holderOf(segment, claim, { rules, at, refused }));
    },
    ownerOf({ pool = "" }, at) {
      if (pool === "") return undefined;
      const { owners } = ownersOf(rules, { ...NO_WORKLOAD, pool }, at);
      return owners.team.rule === "" ? undefined : { owners, trail: trailOf(owners) };
    },
  };
}

function trailOf({ team, costCenter, project, environment }: Attribution["owners"]): ChargeTrail["owners"] {
  return { team: team.rule, costCenter: costCenter.rule, project: project.rule, environment: environment.rule };
}

/** Returns the trail of held time that the platform pays: the policy names the payer, and the holder's rules name the rest. */
function trailOfPolicy({ name }: Policy, { trail }: SegmentHolder): ChargeTrail["owners"] {
  return { ...trail, team: `policy ${name}`, costCenter: "" };
}

/**
 * A cache of the owners of holders, for the lifetime of the holders' objects. Most holders hold for many hours without a change of rules.
 */
const ATTRIBUTIONS = new WeakMap<OwnerRules, WeakMap<UsageHolder, KnownAttribution>>();

interface KnownAttribution {
  readonly pool: string | undefined;
  /** The next change of the rules after the requested time; undefined if there is none. */
  readonly nextChange: number | undefined;
  readonly attribution: Attribution;
}

/** Returns the owners of a holder on a machine at a time. */
function attributionOf(rules: OwnerRules, { holders, machine }: UsageHour, claim: number, at: number): Attribution {
  const ofRules = ATTRIBUTIONS.get(rules) ?? new WeakMap<UsageHolder, KnownAttribution>();
  ATTRIBUTIONS.set(rules, ofRules);
  const holder = holders[claim]!;
  const nextChange = rules.changes.find((change) => change > at);
  const known = ofRules.get(holder);
  if (known !== undefined && known.pool === machine.pool && known.nextChange === nextChange) return known.attribution;
  const attribution = ownersOf(rules, subjectOf(holder, machine), at);
  ofRules.set(holder, { pool: machine.pool, nextChange, attribution });
  return attribution;
}

/** Returns the fields of a holder on a machine that rules of owners read. */
export function subjectOf(holder: UsageHolder, machine: UsageMachine): OwnerSubject {
  return {
    namespace: holder.namespace,
    workload: holder.workload,
    queue: holder.queue,
    pool: machine.pool ?? "",
    ...podMarks(holder),
    namespaceMarks: { labels: holder.namespaceLabels, annotations: holder.namespaceAnnotations },
  };
}

/** Returns all lines of each GPU over the hour, across changes of its machine. */
function linesBySlot(slots: ChargedNode["slots"]): readonly (readonly SlotLine[])[] {
  const bySlot = new Map<number, SlotLine[]>();
  for (const { slot, charged } of slots) bySlot.set(slot, [...(bySlot.get(slot) ?? []), ...charged.lines]);
  return [...bySlot.values()];
}

/** Groups rows by slot and unchanged machine, in order of time. */
function groupRows(hours: readonly UsageHour[]): readonly (readonly UsageHour[])[] {
  const groups: UsageHour[][] = [];
  for (const hour of hours) {
    const last = groups.at(-1)?.at(-1);
    const goesOn =
      last !== undefined &&
      last.slot === hour.slot &&
      last.segment.untilMillis === hour.segment.fromMillis &&
      last.segment.gpu.model === hour.segment.gpu.model &&
      (last.machine === hour.machine || JSON.stringify(last.machine) === JSON.stringify(hour.machine));
    if (goesOn) groups.at(-1)!.push(hour);
    else groups.push([hour]);
  }
  return groups;
}

function chargeOf(line: SlotLine, policy: Policy, holders: Holders): Charge {
  const { claim, state, fromMillis, untilMillis } = line;
  const { hour, price } = line.segment;
  const { cluster, node, slot, segment, machine } = hour;
  const wanted = payerOf(state, policy);
  const holder = claim === undefined ? undefined : holders.of(line.segment, claim, fromMillis);
  const paying =
    wanted === "holder" ? holder : wanted === "platform" ? undefined : holders.ownerOf(machine, fromMillis);
  const payer = wanted === "owner" && paying === undefined ? "platform" : wanted;
  const named = paying ?? holder;
  const part = gpuPartOf(machine.instanceType);
  const isDown = state === "unavailable";
  // All fields are listed because there are very many lines: copying the parts would take twice as long.
  return {
    fromMillis,
    untilMillis,
    cluster,
    node,
    slot,
    gpuModel: segment.gpu.model ?? "",
    layout: segment.gpu.layout.kind,
    invoiceStatus: price?.status ?? "",
    instanceType: machine.instanceType ?? "",
    region: machine.region ?? "",
    zone: machine.zone ?? "",
    pool: machine.pool ?? "",
    capacityType: machine.capacityType ?? "",
    state,
    because: isDown ? reasonOf(segment) : "",
    payer,
    team: paying?.owners.team.value ?? PLATFORM,
    costCenter: paying?.owners.costCenter.value ?? "",
    project: named?.owners.project.value ?? "",
    environment: named?.owners.environment.value ?? "",
    holder: holder?.charged,
    shareMillis: part === ONE ? line.shareMillis : multiply(line.shareMillis, part),
    gpuHours: line.gpuHours,
    costs: line.costs,
    power: line.power,
    millijoules: line.millijoules,
    carbon: line.carbon,
    trail: {
      price: price?.entry.name ?? "",
      pricedSince: price?.since ?? 0,
      owners: paying?.trail ?? (holder === undefined ? NO_OWNERS : trailOfPolicy(policy, holder)),
    },
  };
}

/** Returns why a share of a segment is unavailable. A fault does not count while activity is measured, so a cordon can be left. */
function reasonOf({ unavailableBecause, isCordoned, busyMillis, fromMillis, untilMillis }: UsageSegment): string {
  const isFault = unavailableBecause !== "" && busyMillis < untilMillis - fromMillis;
  return isCordoned && !isFault ? "cordoned" : unavailableBecause;
}

/** Returns the holder of a claim on a segment, with its owners at a time. */
function holderOf(
  { hour, whole }: SlotSegment,
  claim: number,
  { rules, at, refused }: { readonly rules: OwnerRules; readonly at: number; readonly refused: RefusedTeam[] },
): SegmentHolder {
  const holder = hour.holders[claim]!;
  const { raw, share } = whole.held[claim]!;
  const { owners, refused: refusedOwners } = attributionOf(rules, hour, claim, at);
  const { namespace, name: pod, workloadKind, workload, type, queue, priorityClass, labels, evidence } = holder;
  for (const { value } of refusedOwners) refused.push({ team: value, namespace, workload });
  return {
    charged: {
      id: hour.segment.claims[claim]!.claim.holder,
      namespace,
      pod,
      workloadKind,
      workload,
      type,
      queue,
      priorityClass,
      labels,
      attribution: evidence,
      rawShare: fraction(raw),
      share: fraction(share),
    },
    owners,
    trail: trailOf(owners),
  };
}

function fraction({ num, den }: Rational): string {
  return den === 1n ? String(num) : `${num}/${den}`;
}

/** Returns the cost of a node in addition to its GPUs: one line for each price piece of its first slot. */
function nonGpuCharges({ lines, pieces }: ChargedSlot): readonly Charge[] {
  const [first] = lines;
  if (first === undefined) return [];
  return pieces.flatMap(({ fromMillis, untilMillis, price }): readonly Charge[] => {
    const costs: Costs | undefined = price?.nonGpu;
    if (costs === undefined || (costs.effective === 0n && costs.list === 0n && costs.contracted === 0n)) return [];
    const { cluster, node, machine } = first.segment.hour;
    const { instanceType = "", region = "", zone = "", pool = "", capacityType = "" } = machine;
    const ofMachine: Omit<Record<MachineDimension, string>, "gpuModel" | "layout"> = {
      invoiceStatus: price?.status ?? "",
      instanceType,
      region,
      zone,
      pool,
      capacityType,
    };
    const given = { fromMillis, untilMillis, cluster, node, ...ofMachine, state: "non-gpu" as const, costs };
    return [chargeBeside(given, { price: price!.entry.name, pricedSince: price!.since })];
  });
}
