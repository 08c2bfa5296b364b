import type { Measured, UsageClaim, UsageSegment } from "../../../domain/allocation/segment.ts";
import {
  compare,
  multiply,
  ONE,
  rational,
  roundHalfEven,
  smaller,
  type Rational,
} from "../../../domain/exact/rational.ts";
import { sumOf } from "../../../domain/share/scale.ts";
import { gpuMemoryOf } from "../../../domain/share/gpu-memory.ts";
import type { Held } from "../../../domain/share/claim.ts";
import { heldInCommon, type CommonDevice } from "../../../domain/share/common.ts";
import type { GpuAt } from "../../../domain/share/layout.ts";
import { vgpuShare } from "../../../domain/share/vgpu.ts";
import type { Scenario } from "../../../scenarios/schema.ts";

/** A node and a pod as a scenario writes them. */
export type ScenarioNode = Scenario["nodes"][number];
export type ScenarioPod = Scenario["pods"][number];

/** A segment of a GPU with the pod behind each claim. */
export interface MeteredSegment extends UsageSegment {
  readonly pods: readonly ScenarioPod[];
  readonly isCommon: readonly boolean[];
}

/** A GPU of a scenario with its segments in the order of time. */
export interface MeteredGpu {
  readonly node: ScenarioNode;
  readonly index: number;
  readonly segments: readonly MeteredSegment[];
}

const HOUR = 3_600_000;

/**
 * The meter in the plainest way: every GPU by itself, cut wherever anything can change, every sample looked at one by one. Slow,
 * and short enough to be seen right; what computes the same in a store is held against it. `cuts` are further times at
 * which segments end: a price or an owner changes.
 */
export function meterScenario(scenario: Scenario, cuts: readonly number[]): readonly MeteredGpu[] {
  return scenario.nodes.flatMap((node) =>
    Array.from({ length: node.gpus }, (_, index) => ({
      node,
      index,
      segments: segmentsOf(scenario, node, index, cuts),
    })),
  );
}

/** When a pod holds: from when it is bound until it is finished; of one that was never bound, never. */
export function tenureOf({ scheduled, finished }: ScenarioPod, { period }: Scenario): { from: number; until: number } {
  if (scheduled === null) return { from: Infinity, until: Infinity };
  return { from: scheduled ?? period.start, until: finished === null ? Infinity : (finished ?? period.end) };
}

function segmentsOf(
  scenario: Scenario,
  node: ScenarioNode,
  index: number,
  cuts: readonly number[],
): readonly MeteredSegment[] {
  const life = { from: node.from ?? scenario.period.start, until: node.until ?? scenario.period.end };
  const pods = scenario.pods.filter((pod) => pod.node === node.name);
  const edges = new Set([life.from, life.until, ...cuts]);
  for (let hour = Math.ceil(life.from / HOUR) * HOUR; hour < life.until; hour += HOUR) edges.add(hour);
  for (const pod of pods) {
    const { from, until } = tenureOf(pod, scenario);
    for (const edge of [from, until, startOf(pod, scenario), wholeAt(pod, scenario)]) edges.add(edge);
  }
  for (const { from = life.from, until = life.until } of node.unavailable) edges.add(from).add(until);
  if (Array.isArray(node.mig)) for (const { from } of node.mig) edges.add(from);
  const times = [...edges].filter((at) => life.from <= at && at <= life.until).toSorted((a, b) => a - b);
  return times.slice(0, -1).map((from, place) => segmentAt(scenario, node, index, from, times[place + 1]!));
}

function segmentAt(
  scenario: Scenario,
  node: ScenarioNode,
  index: number,
  fromMillis: number,
  untilMillis: number,
): MeteredSegment {
  const gpu = gpuAt(node, index, fromMillis);
  const holding = holdersAt(scenario, node, fromMillis);
  const here = holding
    .filter(({ gpu: on }) => on === index)
    .toSorted((a, b) => compareKeys(tieOrder(a, scenario), tieOrder(b, scenario)));
  const claims = here.map(({ pod, held }): UsageClaim => {
    const stage =
      fromMillis < startOf(pod, scenario) ? "starting" : fromMillis < wholeAt(pod, scenario) ? "waiting" : "running";
    const measured = measure(scenario, node, { index, pod, held, fromMillis, untilMillis });
    return { claim: { holder: `${pod.namespace}/${pod.name}`, held }, stage, measured };
  });
  const down = node.unavailable.filter(
    ({ gpus, from = -Infinity, until = Infinity }) =>
      (gpus ?? [index]).includes(index) && from <= fromMillis && fromMillis < until,
  );
  return {
    fromMillis,
    untilMillis,
    gpu,
    unavailableBecause: down.find(({ because }) => because !== "cordoned")?.because ?? "",
    isCordoned: down.some(({ because }) => because === "cordoned"),
    busyMillis: Math.max(0, ...claims.map(({ measured }) => measured.busyMillis)),
    claims,
    pods: here.map(({ pod }) => pod),
    isCommon: here.map(({ held }) => held.what === "common"),
  };
}

function gpuAt(node: ScenarioNode, index: number, at: number): GpuAt {
  const { model, sharing, partitions } = node;
  const count = partitions[String(index)];
  if (count !== undefined) return { model, layout: { kind: "partitions", count } };
  const profiles = migAt(node, at)?.[String(index)];
  if (profiles !== undefined) {
    return {
      model,
      layout: { kind: "mig", instances: profiles.map((profile, place) => ({ id: String(place), profile })) },
    };
  }
  if (sharing.strategy !== "none") return { model, layout: { kind: "shared", replicas: sharing.replicas } };
  return { model, layout: { kind: "whole" } };
}

function migAt({ mig }: ScenarioNode, at: number): Readonly<Record<string, readonly string[]>> | undefined {
  if (!Array.isArray(mig)) return mig as Readonly<Record<string, readonly string[]>> | undefined;
  return mig.filter(({ from }) => from <= at).at(-1)?.layout;
}

/** What decides between claims of a GPU that are equal: instance, start, namespace, pod (ledger, "Words"). */
function tieOrder({ pod, held }: Holding, scenario: Scenario): readonly (string | number)[] {
  return [partOf(held), tenureOf(pod, scenario).from, pod.namespace, pod.name];
}

function compareKeys(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  const index = a.findIndex((part, place) => part !== b[place]);
  return index === -1 ? 0 : a[index]! < b[index]! ? -1 : 1;
}

interface Holding {
  readonly pod: ScenarioPod;
  readonly gpu: number;
  readonly held: Held;
}

/** Who holds what of a node at a time: by its devices where they are known, else in common. */
function holdersAt(scenario: Scenario, node: ScenarioNode, at: number): readonly Holding[] {
  const bound = scenario.pods.filter((pod) => {
    const { from, until } = tenureOf(pod, scenario);
    return pod.node === node.name && from <= at && at < until;
  });
  const known = bound.flatMap((pod) => knownDevices(scenario, pod).map((device) => ({ pod, ...device })));
  const unknown = bound.filter((pod) => knownDevices(scenario, pod).length === 0);
  if (unknown.length === 0) return known;
  const isMig = "mig" in unknown[0]!.holds;
  const devices = Array.from({ length: node.gpus }, (_, index) => index).flatMap((index): CommonDevice[] => {
    const { layout } = gpuAt(node, index, at);
    const isUnavailable = node.unavailable.some(
      ({ gpus, because, from = -Infinity, until = Infinity }) =>
        because !== "cordoned" && (gpus ?? [index]).includes(index) && from <= at && at < until,
    );
    const taken = known.filter(({ gpu }) => gpu === index);
    if (layout.kind === "mig") {
      return layout.instances
        .filter(({ profile }) => isMig && profile === (unknown[0]!.holds as { mig?: string }).mig)
        .map(({ id }) => ({
          gpu: String(index),
          part: id,
          members: 1,
          taken: taken.filter(({ held }) => held.what === "instance" && held.instance === id).length,
          isUnavailable,
        }));
    }
    if (isMig) return [];
    const members = layout.kind === "shared" ? layout.replicas : 1;
    return [{ gpu: String(index), members, taken: Math.min(members, taken.length), isUnavailable }];
  });
  const { claims } = heldInCommon(
    devices,
    unknown.map((pod) => ({ holder: `${pod.namespace}/${pod.name}`, count: countOf(pod) })),
  );
  const common = [...claims].flatMap(([gpu, all]) =>
    all.map(({ holder, held }) => ({
      pod: unknown.find((pod) => `${pod.namespace}/${pod.name}` === holder)!,
      gpu: Number(gpu),
      held,
    })),
  );
  return [...known, ...common];
}

function countOf({ holds }: ScenarioPod): number {
  if ("gpus" in holds) return holds.gpus;
  if ("mig" in holds) return holds.count;
  return "replicas" in holds ? holds.replicas : 1;
}

function knownDevices(scenario: Scenario, pod: ScenarioPod): readonly { readonly gpu: number; readonly held: Held }[] {
  const { holds } = pod;
  if ("dra" in holds) {
    const { devices, reservedFor } = scenario.claims[holds.dra.claim]!;
    return devices.map((device) => heldOn(pod, device, reservedFor.length));
  }
  return (pod.devices ?? []).map((device) => heldOn(pod, device, undefined));
}

function heldOn(
  { holds, devices = [] }: ScenarioPod,
  device: NonNullable<ScenarioPod["devices"]>[number],
  reserved: number | undefined,
): { readonly gpu: number; readonly held: Held } {
  const reservedFor = reserved === undefined || reserved < 2 ? {} : { reservedFor: reserved };
  if (typeof device !== "number")
    return { gpu: device.gpu, held: { what: "instance", instance: String(device.instance), ...reservedFor } };
  if ("replicas" in holds)
    return { gpu: device, held: { what: "replicas", count: holds.replicas / Math.max(1, devices.length) } };
  if ("fraction" in holds) return { gpu: device, held: { what: "fraction", ppm: Math.round(holds.fraction * 1e6) } };
  if ("hami" in holds) {
    const { memoryMiB, cores: coresPercent } = holds.hami;
    return {
      gpu: device,
      held: {
        what: "vgpu",
        ...(memoryMiB === undefined ? {} : { memoryMiB }),
        ...(coresPercent === undefined ? {} : { coresPercent }),
      },
    };
  }
  return { gpu: device, held: { what: "whole", ...reservedFor } };
}

/** When the first container of a pod runs. */
function startOf(pod: ScenarioPod, scenario: Scenario): number {
  return pod.started === null ? Infinity : (pod.started ?? tenureOf(pod, scenario).from);
}

/** When all members of a pod's gang were bound at the same time first; before everything for a pod without one. */
function wholeAt({ gang }: ScenarioPod, scenario: Scenario): number {
  if (gang === undefined) return -Infinity;
  const members = scenario.pods.filter((pod) => pod.gang?.group === gang.group).map((pod) => tenureOf(pod, scenario));
  const moments = members.map(({ from }) => from).toSorted((a, b) => a - b);
  return (
    moments.find((at) => members.filter(({ from, until }) => from <= at && at < until).length >= gang.size) ?? Infinity
  );
}

interface Looked {
  readonly index: number;
  readonly pod: ScenarioPod;
  readonly held: Held;
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/** Integrates the samples that speak for a pod over a segment, one by one. */
function measure(scenario: Scenario, node: ScenarioNode, looked: Looked): Measured {
  const { index, pod, held, fromMillis, untilMillis } = looked;
  const { from, until } = tenureOf(pod, scenario);
  const sums = { covered: 0, busy: 0, activity: 0n, atClaims: 0n, atClaim: 0n, atOccupant: 0n, atUsage: 0n };
  const samples = samplesOf(scenario, node, index);
  samples.forEach((at, place) => {
    if (at < from || at >= until) return;
    const end = Math.min(samples[place + 1] ?? Infinity, at + 2.5 * scenario.scrapeInterval, until);
    const spoken = Math.max(0, Math.min(end, untilMillis) - Math.max(at, fromMillis));
    if (spoken === 0) return;
    const others = holdersAt(scenario, node, at).filter(
      (other) => other.gpu === index && partOf(other.held) === partOf(held),
    );
    const layout = gpuAt(node, index, at);
    const of = others.map((other) => ({
      pod: other.pod,
      claimed: claimedOf(other.held, layout),
      ratio: activityAt(other.pod, at),
    }));
    const own = of.findIndex((other) => other.pod === pod);
    // A sample speaks for those alone who held the device when it was taken.
    if (own === -1 || of.every(({ ratio }) => ratio === undefined)) return;
    const active = of.map(({ ratio = 0, claimed }) => multiply(rational(Math.round(ratio * 1e6), 1_000_000), claimed));
    const all = sumOf(active);
    const device = smaller(all, ONE);
    const mine = active[own]!;
    const claimed = claimedOf(held, layout);
    const millis = BigInt(spoken);
    const ppm = (part: Rational): bigint => roundHalfEven(multiply(part, rational(1_000_000))) * millis;
    sums.covered += spoken;
    if (compare(device, rational(0)) > 0) sums.busy += spoken;
    sums.activity += ppm(device);
    sums.atClaims += ppm(smaller(device, sumOf(of.map((other) => other.claimed))));
    sums.atClaim += ppm(smaller(mine, claimed));
    sums.atOccupant += ppm(smaller(mine, rational(1, of.length)));
    sums.atUsage += ppm(mine);
  });
  return {
    coveredMillis: sums.covered,
    busyMillis: sums.busy,
    activityPpmMillis: sums.activity,
    activityAtClaimsPpmMillis: sums.atClaims,
    ...(pod.processActivity
      ? {
          process: {
            atClaimPpmMillis: sums.atClaim,
            atOccupantPpmMillis: sums.atOccupant,
            atUsagePpmMillis: sums.atUsage,
          },
        }
      : {}),
  };
}

/** The times at which a GPU was scraped. */
function samplesOf({ period, scrapeInterval }: Scenario, node: ScenarioNode, index: number): readonly number[] {
  const count = Math.ceil((period.end - period.start) / scrapeInterval);
  return Array.from({ length: count }, (_, k) => period.start + k * scrapeInterval).filter(
    (at) =>
      (node.from ?? period.start) <= at &&
      at < (node.until ?? period.end) &&
      !node.telemetryGaps.some(
        ({ gpus, from = -Infinity, until = Infinity }) => (gpus ?? [index]).includes(index) && from <= at && at < until,
      ),
  );
}

function activityAt({ activity }: ScenarioPod, at: number): number | undefined {
  if (activity === undefined || typeof activity === "number") return activity;
  return activity.find(({ from = -Infinity, until = Infinity }) => from <= at && at < until)?.ratio;
}

function partOf(held: Held): string {
  if (held.what === "instance") return held.instance;
  if (held.what === "partition") return held.partition;
  return "part" in held ? (held.part ?? "") : "";
}

/** What a claim is of its device, as it is written. */
function claimedOf(held: Held, gpu: GpuAt): Rational {
  switch (held.what) {
    case "whole":
    case "instance":
    case "partition":
      return rational(1, held.reservedFor ?? 1);
    case "replicas":
      return rational(held.count, gpu.layout.kind === "shared" ? gpu.layout.replicas : 1);
    case "fraction":
      return rational(held.ppm ?? 1_000_000, 1_000_000);
    case "vgpu":
      return vgpuShare(held, gpuMemoryOf(gpu)).share;
    case "common":
      return multiply(
        rational(held.count, held.setSize),
        rational(held.members, gpu.layout.kind === "shared" ? gpu.layout.replicas : 1),
      );
  }
}
