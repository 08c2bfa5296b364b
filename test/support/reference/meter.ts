import type { Measured, Stage, UsageClaim, UsageSegment } from "../../../domain/allocation/segment.ts";
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
import type { Held, PartOfDevice } from "../../../domain/share/claim.ts";
import { heldInCommon, type CommonDevice } from "../../../domain/share/common.ts";
import type { GpuAt } from "../../../domain/share/layout.ts";
import { vgpuShare } from "../../../domain/share/vgpu.ts";
import type { Scenario } from "../../../scenarios/files.ts";
import { energyOf } from "./energy.ts";
import { HOUR_MILLIS as HOUR } from "../../../domain/time.ts";

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

/** Times at which segments end although nothing changes that the meter reads: changes of a node's prices and of a pod's owners. */
export interface Cuts {
  ofNode(node: ScenarioNode): readonly number[];
  ofPod(pod: ScenarioPod): readonly number[];
}

/** Earlier results for a scenario: the same values are needed for every sample. */
const found = new WeakMap<Scenario, Map<string, unknown>>();
function remember<Value>(scenario: Scenario, key: readonly unknown[], find: () => Value): Value {
  const known = found.get(scenario) ?? new Map<string, unknown>();
  found.set(scenario, known);
  const name = key.join("\n");
  if (!known.has(name)) known.set(name, find());
  return known.get(name) as Value;
}
/** Without Kubernetes a slot ends after this time without a sample. */
const ABSENT_AFTER = 24 * HOUR;

/**
 * The meter in the simplest way: each GPU by itself, at each time at which anything can change, with each sample by itself. It is slow, and short
 * enough to be checked by reading. The meter that computes the same in a store is compared with it.
 */
export function meterScenario(scenario: Scenario, cuts: Cuts): readonly MeteredGpu[] {
  return scenario.nodes.flatMap((node) =>
    Array.from({ length: node.delivered ?? node.gpus }, (_, index) => ({
      node,
      index,
      segments: livesOf(scenario, node, index).flatMap((life) => segmentsOf(scenario, node, index, life, cuts)),
    })),
  );
}

/** The time for which a pod holds devices: from its binding until it is finished; for a job, from its first sample to the first sample without it. */
export function tenureOf(pod: ScenarioPod, scenario: Scenario): Span {
  const { scheduled, finished, hpcJob } = pod;
  if (scheduled === null) return { from: Infinity, until: Infinity };
  const from = scheduled ?? scenario.period.start;
  const until = finished === null ? Infinity : (finished ?? scenario.period.end);
  if (hpcJob === undefined) return { from, until };
  const samples = seenBy(scenario, pod);
  const first = samples.find((at) => from <= at && at < until) ?? Infinity;
  return { from: first, until: samples.find((at) => at >= Math.max(first, until)) ?? Infinity };
}

/** The times at which the devices of a pod were scraped. */
function seenBy(scenario: Scenario, { node: name, devices = [] }: ScenarioPod): readonly number[] {
  const node = scenario.nodes.find((each) => each.name === name);
  if (node === undefined) return [];
  const gpus = devices.map((device) => (typeof device === "number" ? device : device.gpu));
  return [...new Set(gpus.flatMap((gpu) => samplesOf(scenario, node, gpu)))].toSorted((a, b) => a - b);
}

/** A half-open span of time in milliseconds since the epoch. */
interface Span {
  readonly from: number;
  readonly until: number;
}

interface Down extends Span {
  readonly because: string;
}

/** The times at which a GPU exists: the same as its machine's; without Kubernetes, the times that samples cover. */
function livesOf(scenario: Scenario, node: ScenarioNode, index: number): readonly Span[] {
  const { period, scrapeInterval } = scenario;
  const life = { from: node.from ?? period.start, until: node.until ?? period.end };
  if (!scenario.pods.some((pod) => pod.node === node.name && pod.hpcJob !== undefined)) return [life];
  const samples = samplesOf(scenario, node, index);
  return samples.flatMap((at, place): Span[] => {
    const before = samples[place - 1];
    if (before !== undefined && at - before <= ABSENT_AFTER) return [];
    const last = samples.find(
      (each, later) => later >= place && (samples[later + 1] ?? Infinity) - each > ABSENT_AFTER,
    )!;
    const isOver = (samples.at(-1) === last ? period.end : Infinity) - last > ABSENT_AFTER;
    return [{ from: at, until: isOver ? last + 2.5 * scrapeInterval : period.end }];
  });
}

/** A GPU at a moment, without its measurements. */
interface State {
  readonly gpu: GpuAt;
  readonly unavailableBecause: string;
  readonly isCordoned: boolean;
  readonly holders: readonly (Holding & { readonly stage: Stage })[];
}

function segmentsOf(
  scenario: Scenario,
  node: ScenarioNode,
  index: number,
  life: Span,
  cuts: Cuts,
): readonly MeteredSegment[] {
  const segments: MeteredSegment[] = [];
  let open: { readonly from: number; readonly state: State } | undefined;
  const since = new Map<string, number>();
  const times = edgesOf(scenario, node, index, life, cuts);
  times.forEach((at, place) => {
    const state = place === times.length - 1 ? undefined : stateAt(scenario, node, index, at);
    const goesOn =
      open !== undefined &&
      state !== undefined &&
      JSON.stringify(open.state) === JSON.stringify(state) &&
      at % HOUR !== 0 &&
      !cuts.ofNode(node).includes(at) &&
      !state.holders.some(({ pod }) => cuts.ofPod(pod).includes(at));
    if (goesOn) return;
    if (open !== undefined) segments.push(metered(scenario, node, index, { ...open, until: at }, since));
    const holding = new Set(state?.holders.map(keyOf));
    for (const key of since.keys()) if (!holding.has(key)) since.delete(key);
    for (const key of holding) if (!since.has(key)) since.set(key, at);
    open = state === undefined ? undefined : { from: at, state };
  });
  return segments;
}

/** The times at which anything can change for a GPU, the ends of its life included. */
function edgesOf(scenario: Scenario, node: ScenarioNode, index: number, life: Span, cuts: Cuts): readonly number[] {
  const edges = new Set([life.from, life.until, ...cuts.ofNode(node)]);
  if (Array.isArray(node.mig)) for (const at of samplesOf(scenario, node, index)) edges.add(at);
  for (let hour = Math.ceil(life.from / HOUR) * HOUR; hour < life.until; hour += HOUR) edges.add(hour);
  for (const pod of scenario.pods.filter((each) => each.node === node.name)) {
    const { from, until } = tenureOf(pod, scenario);
    for (const edge of [from, until, startOf(pod, scenario), wholeAt(pod, scenario), ...cuts.ofPod(pod)])
      edges.add(edge);
  }
  for (let gpu = 0; gpu < node.gpus; gpu++)
    for (const { from, until } of downOf(scenario, node, gpu)) edges.add(from).add(until);
  return [...edges].filter((at) => life.from <= at && at <= life.until).toSorted((a, b) => a - b);
}

function stateAt(scenario: Scenario, node: ScenarioNode, index: number, at: number): State {
  const down = downOf(scenario, node, index)
    .filter(({ from, until }) => from <= at && at < until)
    .toSorted((a, b) => rankOf(a) - rankOf(b));
  const gpu = gpuAt(scenario, node, index, at);
  const isEmpty = gpu.layout.kind === "mig" && gpu.layout.instances.length === 0;
  const because = down.find((each) => each.because !== "cordoned")?.because;
  return {
    gpu,
    unavailableBecause: because ?? (isEmpty ? "mig-without-instances" : ""),
    isCordoned: down.some(({ because }) => because === "cordoned"),
    holders: holdersAt(scenario, node, at)
      .filter(({ gpu: on }) => on === index)
      .toSorted((a, b) => compareKeys(tieOrder(a, scenario), tieOrder(b, scenario)))
      .map((holding) => ({ ...holding, stage: stageAt(scenario, holding.pod, at) })),
  };
}

/** The rank of a reason: reasons of the machine come before reasons of the GPU. */
function rankOf({ because }: Down): number {
  return ["absent", "not-ready", "xid", "withdrawn", "cordoned"].findIndex((reason) => because.startsWith(reason));
}

function stageAt(scenario: Scenario, pod: ScenarioPod, at: number): Stage {
  return at < startOf(pod, scenario) ? "starting" : at < wholeAt(pod, scenario) ? "waiting" : "running";
}

function metered(
  scenario: Scenario,
  node: ScenarioNode,
  index: number,
  { from, until, state }: Span & { readonly state: State },
  since: ReadonlyMap<string, number>,
): MeteredSegment {
  const { gpu, unavailableBecause, isCordoned, holders } = state;
  const claims = holders.map((holder): UsageClaim => ({
    claim: { holder: nameOf(holder.pod), held: holder.held },
    stage: holder.stage,
    measured: measure(scenario, node, { index, holder, state, since: since.get(keyOf(holder))!, from, until }),
  }));
  return {
    fromMillis: from,
    untilMillis: until,
    gpu,
    unavailableBecause,
    isCordoned,
    busyMillis: unavailableBecause === "" ? 0 : busyOf(scenario, node, index, { from, until }),
    energy: energyOf(poweredGpu(scenario, node, index), { from, until }),
    claims,
    pods: holders.map(({ pod }) => pod),
    isCommon: holders.map(({ held }) => held.what === "common"),
  };
}

/** The start of a holding belongs to its holder and its device. */
function keyOf({ pod, held }: Holding): string {
  return JSON.stringify([nameOf(pod), tenureKey(pod), partOf(held)]);
}

function tenureKey({ scheduled }: ScenarioPod): number {
  return scheduled ?? 0;
}

function nameOf({ namespace, name }: ScenarioPod): string {
  return `${namespace}/${name}`;
}

/**
 * The times at which a GPU cannot be used, with the reasons. An XID lasts from the first sample that shows it to the first without it, or to the
 * first activity of a pod that was bound after it.
 */
function downOf(scenario: Scenario, node: ScenarioNode, index: number): readonly Down[] {
  return remember(scenario, ["down", node.name, index], () => findDown(scenario, node, index));
}

function findDown(scenario: Scenario, node: ScenarioNode, index: number): readonly Down[] {
  if (index >= node.gpus) return [{ from: -Infinity, until: Infinity, because: "absent" }];
  const mine = node.unavailable.filter(({ gpus }) => (gpus ?? [index]).includes(index));
  return mine.flatMap(({ from = -Infinity, until = Infinity, because }) => {
    if (!because.startsWith("xid-")) return [{ from, until, because }];
    const samples = samplesOf(scenario, node, index);
    const onset = samples.find((at) => from <= at && at < until);
    if (onset === undefined) return [];
    const here = scenario.pods
      .filter((pod) => pod.node === node.name && knownDevices(scenario, pod).some(({ gpu }) => gpu === index))
      .map((pod) => ({ pod, tenure: tenureOf(pod, scenario) }));
    const holding = (at: number) => here.filter(({ tenure }) => tenure.from <= at && at < tenure.until);
    // The device has one value. It cannot be attributed to one of several pods.
    const returned = samples.find(
      (at) =>
        at > onset &&
        holding(at).some(({ tenure }) => onset < tenure.from) &&
        holding(at).some(({ pod }) => (activityAt(pod, at) ?? 0) > 0),
    );
    const gone = samples.find((at) => at >= until) ?? Infinity;
    return [{ from: onset, until: Math.min(gone, returned ?? Infinity), because }];
  });
}

export function gpuAt(scenario: Scenario, node: ScenarioNode, index: number, at: number): GpuAt {
  const { model, sharing, partitions } = node;
  const count = partitions[String(index)];
  if (count !== undefined) return { model, layout: { kind: "partitions", count } };
  const profiles = migAt(node, seenAt(scenario, node, index, at))?.[String(index)];
  if (profiles !== undefined) {
    return {
      model,
      layout: { kind: "mig", instances: profiles.map((profile, place) => ({ id: String(place), profile })) },
    };
  }
  if (sharing.strategy !== "none") return { model, layout: { kind: "shared", replicas: sharing.replicas } };
  return { model, layout: { kind: "whole" } };
}

/** The layout of a GPU comes from its latest sample; before the first sample, from the first sample. */
function seenAt(scenario: Scenario, node: ScenarioNode, index: number, at: number): number {
  const samples = samplesOf(scenario, node, index);
  return samples.findLast((sample) => sample <= at) ?? samples[0] ?? at;
}

function migAt({ mig }: ScenarioNode, at: number): Readonly<Record<string, readonly string[]>> | undefined {
  if (!Array.isArray(mig)) return mig as Readonly<Record<string, readonly string[]>> | undefined;
  return mig.filter(({ from }) => from <= at).at(-1)?.layout;
}

/** The order of claims of a GPU that are otherwise equal: instance, start, namespace, pod. */
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

/** The holders of a node's devices at a time: by device where the devices are known, otherwise in common. */
function holdersAt(scenario: Scenario, node: ScenarioNode, at: number): readonly Holding[] {
  return remember(scenario, ["holders", node.name, at], () => findHolders(scenario, node, at));
}

function findHolders(scenario: Scenario, node: ScenarioNode, at: number): readonly Holding[] {
  const bound = scenario.pods.filter((pod) => {
    const { from, until } = tenureOf(pod, scenario);
    return pod.node === node.name && from <= at && at < until;
  });
  const known = bound.flatMap((pod) =>
    knownDevices(scenario, pod)
      .filter(({ gpu, held }) => isStillThere(pod, held, gpuAt(scenario, node, gpu, at)))
      .map(({ gpu, held }) => ({ pod, gpu, held: reservedAmong(bound, pod, held) })),
  );
  const unknown = bound.filter((pod) => knownDevices(scenario, pod).length === 0);
  const kinds = [...new Set(unknown.map(kindOf))];
  const common = kinds.flatMap((kind) => {
    const holders = unknown.filter((pod) => kindOf(pod) === kind);
    const { claims } = heldInCommon(
      devicesOf(scenario, node, at, { kind, known }),
      holders.map((pod) => ({ holder: nameOf(pod), count: countOf(pod), ...eachOf(pod) })),
    );
    return [...claims].flatMap(([gpu, all]) =>
      all.map(({ holder, held }) => ({ pod: holders.find((pod) => nameOf(pod) === holder)!, gpu: Number(gpu), held })),
    );
  });
  return [...known, ...common];
}

/** An allocation ends when its instance ends, also where another instance has its number afterwards. */
function isStillThere({ holds }: ScenarioPod, held: Held, { layout }: GpuAt): boolean {
  if (held.what !== "instance" || !("mig" in holds) || layout.kind !== "mig") return true;
  const there = layout.instances.find(({ id }) => id === held.instance);
  return there === undefined || there.profile === holds.mig;
}

/** The part that a pod has of each of its GPUs, independent of the GPU. */
function eachOf(pod: ScenarioPod): { readonly each?: PartOfDevice } {
  if (!("hami" in pod.holds) && !("fraction" in pod.holds)) return {};
  return { each: heldOn(pod, 0, undefined).held as PartOfDevice };
}

/** A device of a DRA claim is shared by the pods that hold the claim at the time. */
function reservedAmong(bound: readonly ScenarioPod[], { holds }: ScenarioPod, held: Held): Held {
  if (!("dra" in holds)) return held;
  const { claim } = holds.dra;
  const reservedFor = bound.filter((other) => "dra" in other.holds && other.holds.dra.claim === claim).length;
  return reservedFor < 2 ? held : ({ ...held, reservedFor } as Held);
}

/** The kind of device that a pod asks for: a MIG profile, or a GPU or replica. */
function kindOf({ holds }: ScenarioPod): string {
  return "mig" in holds ? holds.mig : "";
}

/** The devices of a kind on a node, with the known holdings. */
function devicesOf(
  scenario: Scenario,
  node: ScenarioNode,
  at: number,
  { kind, known }: { readonly kind: string; readonly known: readonly Holding[] },
): readonly CommonDevice[] {
  return Array.from({ length: node.gpus }, (_, index) => index).flatMap((index): CommonDevice[] => {
    const { layout } = gpuAt(scenario, node, index, at);
    const isUnavailable = downOf(scenario, node, index).some(
      ({ because, from, until }) => because !== "cordoned" && from <= at && at < until,
    );
    const taken = known.filter(({ gpu }) => gpu === index);
    if (layout.kind === "mig") {
      return layout.instances
        .filter(({ profile }) => profile === kind)
        .map(({ id }) => ({
          gpu: String(index),
          part: id,
          members: 1,
          taken: taken.filter(({ held }) => held.what === "instance" && held.instance === id).length,
          isUnavailable,
        }));
    }
    if (kind !== "") return [];
    const members = layout.kind === "shared" ? layout.replicas : 1;
    return [{ gpu: String(index), members, taken: Math.min(members, taken.length), isUnavailable }];
  });
}

function countOf({ holds }: ScenarioPod): number {
  if ("gpus" in holds) return holds.gpus;
  if ("mig" in holds) return holds.count;
  return "replicas" in holds ? holds.replicas : 1;
}

function knownDevices(scenario: Scenario, pod: ScenarioPod): readonly KnownDevice[] {
  return remember(scenario, ["devices", scenario.pods.indexOf(pod)], () => findDevices(scenario, pod));
}

interface KnownDevice {
  readonly gpu: number;
  readonly held: Held;
}

function findDevices(scenario: Scenario, pod: ScenarioPod): readonly KnownDevice[] {
  const { holds } = pod;
  const node = scenario.nodes.find(({ name }) => name === pod.node);
  if ("dra" in holds) {
    return scenario.claims[holds.dra.claim]!.devices.map((device) => heldOn(pod, device, node));
  }
  const devices = pod.devices ?? [];
  // One sample with the label proves the device for the pod's whole time. Without a sample the device is unknown.
  const { from, until } = tenureOf(pod, scenario);
  if (pod.evidence === "label" && !seenBy(scenario, pod).some((at) => from <= at && at < until)) return [];
  return devices.map((device) => heldOn(pod, device, node));
}

function heldOn(
  { holds, devices = [] }: ScenarioPod,
  device: NonNullable<ScenarioPod["devices"]>[number],
  node: ScenarioNode | undefined,
): { readonly gpu: number; readonly held: Held } {
  if (typeof device !== "number") {
    const part = String(device.instance);
    const isPartition = node?.partitions[String(device.gpu)] !== undefined;
    return {
      gpu: device.gpu,
      held: isPartition ? { what: "partition", partition: part } : { what: "instance", instance: part },
    };
  }
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
  return { gpu: device, held: { what: "whole" } };
}

/** When the first container of a pod runs. */
function startOf(pod: ScenarioPod, scenario: Scenario): number {
  return pod.started === null ? Infinity : (pod.started ?? tenureOf(pod, scenario).from);
}

/** The first time at which all members of a pod's gang are bound at once; -Infinity for a pod without a gang. */
function wholeAt({ gang }: ScenarioPod, scenario: Scenario): number {
  return remember(scenario, ["whole", gang?.group, gang?.size], () => findWhole(gang, scenario));
}

function findWhole(gang: ScenarioPod["gang"], scenario: Scenario): number {
  if (gang === undefined) return -Infinity;
  const members = scenario.pods.filter((pod) => pod.gang?.group === gang.group).map((pod) => tenureOf(pod, scenario));
  const moments = members.map(({ from }) => from).toSorted((a, b) => a - b);
  return (
    moments.find((at) => members.filter(({ from, until }) => from <= at && at < until).length >= gang.size) ?? Infinity
  );
}

interface Looked extends Span {
  readonly index: number;
  readonly holder: Holding;
  readonly state: State;
  readonly since: number;
}

/** Integrates the samples that count for a pod over a segment, one by one. */
function measure(scenario: Scenario, node: ScenarioNode, looked: Looked): Measured {
  const { index, holder, state, since, from, until } = looked;
  const sums = { covered: 0, busy: 0, activity: 0n, atClaims: 0n, atClaim: 0n, atOccupant: 0n, atUsage: 0n };
  const here = state.holders.filter(({ held }) => partOf(held) === partOf(holder.held));
  const claimed = claimedOf(holder.held, state.gpu);
  const allClaimed = sumOf(here.map(({ held }) => claimedOf(held, state.gpu)));
  for (const { at, end } of coveredOf(scenario, node, index)) {
    const covered = Math.max(0, Math.min(end, until) - Math.max(at, from));
    // A sample counts only for the pods that held the device when it was taken.
    if (covered === 0 || at < since) continue;
    const { device, own } = activitiesAt(scenario, node, index, partOf(holder.held), at);
    if (device === undefined) continue;
    const mine = own.get(holder.pod) ?? rational(0);
    const millis = BigInt(covered);
    const ppm = (part: Rational): bigint => roundHalfEven(multiply(part, rational(1_000_000))) * millis;
    sums.covered += covered;
    if (compare(device, rational(0)) > 0) sums.busy += covered;
    sums.activity += ppm(device);
    sums.atClaims += ppm(smaller(device, allClaimed));
    sums.atClaim += ppm(smaller(mine, claimed));
    sums.atOccupant += ppm(smaller(mine, rational(1, here.length)));
    sums.atUsage += ppm(mine);
  }
  return {
    coveredMillis: sums.covered,
    busyMillis: sums.busy,
    activityPpmMillis: sums.activity,
    activityAtClaimsPpmMillis: sums.atClaims,
    ...(holder.pod.processActivity
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

/** The time within a span in which any part of a GPU was active according to samples. */
function busyOf(scenario: Scenario, node: ScenarioNode, index: number, { from, until }: Span): number {
  return coveredOf(scenario, node, index).reduce((sum, { at, end }) => {
    const parts = new Set(
      holdersAt(scenario, node, at)
        .filter(({ gpu }) => gpu === index)
        .map(({ held }) => partOf(held)),
    );
    const isBusy = [...parts].some((part) => {
      const { device } = activitiesAt(scenario, node, index, part, at);
      return device !== undefined && compare(device, rational(0)) > 0;
    });
    return isBusy ? sum + Math.max(0, Math.min(end, until) - Math.max(at, from)) : sum;
  }, 0);
}

/** The power draws of a GPU: the node's own, and those of the pods that the scenario puts on it, whether telemetry shows them or not. */
function poweredGpu(scenario: Scenario, node: ScenarioNode, index: number): Parameters<typeof energyOf>[0] {
  const { period, claims, pods, scrapeInterval } = scenario;
  const own = { watts: node.idleWatts, from: node.from ?? period.start, until: node.until ?? period.end };
  const ofPods = pods
    .filter(({ node: name, holds, devices = [] }) =>
      name !== node.name
        ? false
        : ("dra" in holds ? claims[holds.dra.claim]!.devices : devices).some(
            (device) => (typeof device === "number" ? device : device.gpu) === index,
          ),
    )
    .map(({ powerWatts: watts, scheduled, finished }) => ({
      watts,
      from: scheduled === null ? Infinity : (scheduled ?? period.start),
      until: finished === null ? Infinity : (finished ?? period.end),
    }));
  return {
    samples: samplesOf(scenario, node, index),
    reachMillis: 2.5 * scrapeInterval,
    draws: [own, ...ofPods].flatMap(({ watts, ...span }) => (watts === undefined ? [] : [{ watts, ...span }])),
    resets: node.unavailable.flatMap(({ gpus = [index], until, because }) =>
      because.startsWith("xid-") && gpus.includes(index) && until !== undefined ? [until] : [],
    ),
    hasCounter: node.energyCounter,
  };
}

/** The samples of a GPU, each with the end of the time for which it counts. */
function coveredOf(scenario: Scenario, node: ScenarioNode, index: number): readonly { at: number; end: number }[] {
  const samples = samplesOf(scenario, node, index);
  return samples.map((at, place) => ({
    at,
    end: Math.min(samples[place + 1] ?? Infinity, at + 2.5 * scenario.scrapeInterval),
  }));
}

/**
 * The measurements of a sample for a GPU or a part of it: the device's activity, undefined where no pod there is measured, and each pod's own
 * activity, as parts of the device.
 */
function activitiesAt(
  scenario: Scenario,
  node: ScenarioNode,
  index: number,
  part: string,
  at: number,
): { readonly device: Rational | undefined; readonly own: ReadonlyMap<ScenarioPod, Rational> } {
  const layout = gpuAt(scenario, node, index, at);
  const here = holdersAt(scenario, node, at).filter(({ gpu, held }) => gpu === index && partOf(held) === part);
  const own = new Map(
    here.map(({ pod, held }) => [
      pod,
      multiply(rational(Math.round((activityAt(pod, at) ?? 0) * 1e6), 1_000_000), claimedOf(held, layout)),
    ]),
  );
  const isMeasured = here.some(({ pod }) => activityAt(pod, at) !== undefined);
  return { device: isMeasured ? smaller(sumOf([...own.values()]), ONE) : undefined, own };
}

/** The times at which a GPU was scraped. */
function samplesOf(scenario: Scenario, node: ScenarioNode, index: number): readonly number[] {
  const { period, scrapeInterval } = scenario;
  return remember(scenario, ["samples", node.name, index], () => {
    const count = Math.ceil((period.end - period.start) / scrapeInterval);
    return Array.from({ length: count }, (_, k) => period.start + k * scrapeInterval).filter(
      (at) =>
        (node.from ?? period.start) <= at &&
        at < (node.until ?? period.end) &&
        !node.telemetryGaps.some(
          ({ gpus, from = -Infinity, until = Infinity }) =>
            (gpus ?? [index]).includes(index) && from <= at && at < until,
        ),
    );
  });
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

/** The part of its device that a claim has by its definition. */
function claimedOf(held: Held, gpu: GpuAt): Rational {
  switch (held.what) {
    case "whole":
    case "instance":
    case "partition":
      return rational(1, held.reservedFor ?? 1);
    case "consumed":
      return rational(held.amount, held.of * (held.reservedFor ?? 1));
    case "replicas":
      return rational(held.count, gpu.layout.kind === "shared" ? gpu.layout.replicas : 1);
    case "fraction":
      return rational(held.ppm ?? 1_000_000, 1_000_000);
    case "vgpu":
      return vgpuShare(held, gpuMemoryOf(gpu)).share;
    case "common":
      return multiply(
        multiply(rational(held.count, held.setSize), claimedOf(held.each ?? { what: "whole" }, gpu)),
        rational(held.members, gpu.layout.kind === "shared" ? gpu.layout.replicas : 1),
      );
  }
}
