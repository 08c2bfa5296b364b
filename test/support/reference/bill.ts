import { allocate } from "../../../domain/allocation/allocate.ts";
import { chargeGpu, type ChargeLine, type PricedPiece } from "../../../domain/charge/charge-gpu.ts";
import { incurredIn, steadyAccrual, type Accrual } from "../../../domain/exact/accrual.ts";
import { canonicalModel } from "../../../domain/gpu-model/names.ts";
import { gpuPartOf } from "../../../domain/gpu-model/instance-types.ts";
import { multiply, rational, type Rational } from "../../../domain/exact/rational.ts";
import { lastUnits, sum, type Money } from "../../../domain/exact/units.ts";
import { carbonOf, powerOf } from "./energy-bill.ts";
import { UNOWNED } from "../../../domain/owner/owner.ts";
import type { CostKind, PriceBook } from "../../../domain/price/book.ts";
import { costSince, divideNodeCost } from "../../../domain/price/cost.ts";
import type { PriceFacts } from "../../../domain/price/match.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import { readBook } from "../../../domain/price/read.ts";
import { originOf, stretches, type Stretch } from "../../../domain/price/stretch.ts";
import { DEFAULT_POLICY, payerOf, type Policy } from "../../../domain/policy/policy.ts";
import { holderWeightOf, spreadLines, type PaidLine } from "../../../domain/policy/spread.ts";
import { workloadType } from "../../../collectors/kubernetes/owners/type.ts";
import { ownerKinds } from "../../../collectors/kubernetes/owners/kinds.ts";
import type { Bill, BillLine } from "../../../scenarios/bill.ts";
import type { Scenario } from "../../../scenarios/files.ts";
import {
  gpuAt,
  meterScenario,
  type Cuts,
  type MeteredGpu,
  type MeteredSegment,
  type ScenarioNode,
  type ScenarioPod,
} from "./meter.ts";
import { HOUR_MILLIS as HOUR } from "../../../domain/time.ts";

const KINDS: readonly CostKind[] = ["list", "contracted", "effective"];

/** Computes a scenario's bill under each of its policies from its text alone, in the simplest way. */
export function billScenario(scenario: Scenario): ReadonlyMap<string, Bill> {
  const book = bookOf(scenario);
  const prices = new Map(scenario.nodes.map((node) => [node, stretchesOf(scenario, node, book)]));
  const gpus = meterScenario(scenario, cutsOf(scenario));
  const policies: readonly Policy[] =
    scenario.policies.length === 0 ? [DEFAULT_POLICY] : (scenario.policies as readonly Policy[]);
  return new Map(
    policies.map((policy) => {
      if (policy.spread.by === "quota") throw new Error("the reference knows no quotas");
      if (policy.basis === "max") throw new Error("the reference knows no basis max");
      const lines = gpus.flatMap((gpu) => chargeOf(scenario, gpu, prices.get(gpu.node)!, book, policy));
      const bill = spread(lines, policy);
      bill.push(...scenario.nodes.flatMap((node) => nonGpuOf(scenario, node, prices.get(node)!, book)));
      return [policy.name, { lines: bill, total: sum(bill.flatMap(({ cost }) => cost ?? [])) }];
    }),
  );
}

/** The times at which prices of nodes, owners of pods or the emissions of a kWh change. */
export function cutsOf(scenario: Scenario): Cuts {
  const book = bookOf(scenario);
  const emissions = scenario.energy?.gramsPerKWh.map(({ from }) => from) ?? [];
  return {
    ofNode: (node) =>
      stretchesOf(scenario, node, book).flatMap(({ fromMillis, untilMillis, winner }) => {
        const currency = winner.kind === "priced" ? winner.entry.currency : "";
        const rates = book.rates.filter((rate) => rate.currency === currency).map((rate) => rate.fromMillis);
        return [fromMillis, untilMillis, ...rates.filter((at) => fromMillis < at && at < untilMillis), ...emissions];
      }),
    ofPod: ({ namespace }) => {
      const states = scenario.namespaces[namespace];
      return Array.isArray(states) ? states.flatMap(({ from }) => from ?? []) : [];
    },
  };
}

/** A line before spreading, with the values that spreading needs. */
interface UnspreadLine extends PaidLine {
  /** The owner of the pool: the dimensions that its owner's lines have; absent where the pool has no owner. */
  readonly ofPool: Readonly<Record<string, string>> | undefined;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** The lines of a bill. Lines that are spread carry the dimensions of their payers. */
function spread(lines: readonly UnspreadLine[], policy: Policy): BillLine[] {
  const { parts, unspread } = spreadLines(lines, holderWeightOf(policy.spread));
  const stays = new Map(unspread.map(({ line, because }) => [line, because]));
  const direct = lines
    .filter((line) => line.payer !== "spread" || stays.has(line))
    .map((line) => {
      const because = stays.get(line);
      const dimensions = because === "nobody" ? { ...line.dimensions, ...line.ofPool, because } : line.dimensions;
      return { ...line, dimensions, cost: line.costs?.effective };
    });
  const moved = parts.map(({ line, team, costCenter, gpuHours, costs, millijoules, carbon }) => {
    const { cluster, node, gpu, gpuModel, layout, capacityType, state } = line.dimensions;
    return {
      dimensions: { cluster, node, gpu, gpuModel, layout, capacityType, state, team, costCenter } as Record<
        string,
        string
      >,
      gpuHours,
      cost: costs?.effective,
      millijoules,
      carbon,
    };
  });
  return [...direct, ...moved];
}

function bookOf({ currency, prices = [], rates = [], markup = [], commitments = [], fixed = [] }: Scenario): PriceBook {
  const read = readBook({ currency, prices, rates, markup, commitments, fixed });
  if ("book" in read) return read.book;
  throw new Error(read.problems.map(({ key, allowed }) => `${key}: ${allowed}`).join("\n"));
}

function stretchesOf(scenario: Scenario, node: ScenarioNode, { prices }: PriceBook): readonly Stretch[] {
  const { cluster, name, region, zone, instanceType, pool, model, capacityType, labels } = node;
  const facts = { cluster, node: name, region, zone, instanceType, pool, model, capacityType, labels } as PriceFacts;
  return stretches(rankEntries(prices), facts, -Infinity, scenario.period.end);
}

/** The cost of a node, or of its GPU, over a piece of an hour; undefined where no price applies. */
function costsOf(
  stretch: Stretch,
  book: PriceBook,
  [from, until]: readonly [number, number],
  { appeared, part }: { readonly appeared: number; readonly part: Rational },
):
  | { readonly per: string; readonly costs: Record<CostKind, Money>; readonly gpuPart: ReturnType<typeof rational> }
  | undefined {
  if (stretch.winner.kind !== "priced") return undefined;
  const { entry } = stretch.winner;
  const costs = Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      incurredIn(costSince(entry, kind, { originMillis: originOf(stretch, appeared), part }, book), from, until),
    ]),
  ) as Record<CostKind, Money>;
  return { per: entry.per, costs, gpuPart: entry.per === "gpu-hour" ? rational(1) : entry.gpuPart };
}

/** The pieces of a node's life in which one hour and one price hold. */
function piecesOf(scenario: Scenario, node: ScenarioNode, all: readonly Stretch[]) {
  const [begin, end] = [node.from ?? scenario.period.start, node.until ?? scenario.period.end];
  return all.flatMap((stretch) => {
    const from = Math.max(begin, stretch.fromMillis);
    const until = Math.min(end, stretch.untilMillis);
    const pieces: { readonly stretch: Stretch; readonly from: number; readonly until: number }[] = [];
    for (let at = from; at < until;) {
      const next = Math.min(until, (Math.floor(at / HOUR) + 1) * HOUR);
      pieces.push({ stretch, from: at, until: next });
      at = next;
    }
    return pieces;
  });
}

function chargeOf(
  scenario: Scenario,
  { node, index, segments }: MeteredGpu,
  prices: readonly Stretch[],
  book: PriceBook,
  policy: Policy,
): UnspreadLine[] {
  const appeared = node.from ?? scenario.period.start;
  const hours: Accrual<"gpu-hour"> = steadyAccrual(gpuPartOf(node.instanceType), appeared);
  return piecesOf(scenario, node, prices).flatMap(({ stretch, from, until }) => {
    const priced = costsOf(stretch, book, [from, until], { appeared, part: gpuPartOf(node.instanceType) });
    const costs =
      priced === undefined || priced.per === "gpu-hour"
        ? priced?.costs
        : (Object.fromEntries(
            KINDS.map((kind) => [
              kind,
              divideNodeCost(priced.costs[kind], node.delivered ?? node.gpus, priced.gpuPart).gpus[index]!,
            ]),
          ) as Record<CostKind, Money>);
    const inside = segments.filter((segment) => from <= segment.fromMillis && segment.untilMillis <= until);
    const power = powerOf(stretch, inside, node.delivered ?? node.gpus, book);
    const piece: PricedPiece = { fromMillis: from, untilMillis: until, costs, power };
    const allocated = inside.map((segment) => ({
      ...segment,
      allocation: allocate(segment, policy),
      millijoules: segment.energy.coveredMillis === 0 ? undefined : segment.energy.millijoules,
      carbon: carbonOf(scenario, segment),
    }));
    return chargeGpu(piece, allocated, hours).map((line) => {
      const segment = inside.find(({ fromMillis }) => fromMillis === line.fromMillis)!;
      const pod = line.claim === undefined ? undefined : segment.pods[line.claim];
      const dimensions = dimensionsOf(scenario, node, index, pod, line, policy, {
        isCommon: line.claim !== undefined && segment.isCommon[line.claim] === true,
        because: line.state === "unavailable" ? reasonOf(segment) : "",
      });
      const ofPool = poolOwnerOf(scenario, node);
      const isOwners = payerOf(line.state, policy) === "owner" && ofPool !== undefined;
      return {
        dimensions: isOwners ? { ...dimensions, ...ofPool } : dimensions,
        ofPool,
        scope: scopeOf(node, line.fromMillis, policy),
        payer: payerOf(line.state, policy),
        team: dimensions["team"]!,
        costCenter: dimensions["costCenter"]!,
        shareMillis: multiply(line.shareMillis, gpuPartOf(node.instanceType)),
        gpuHours: line.gpuHours,
        costs: line.costs,
        power: line.power,
        millijoules: line.millijoules,
        carbon: line.carbon,
      };
    });
  });
}

/** Returns the reason of an unavailable share: the fault, unless activity is measured all the time, then the cordon. */
function reasonOf(segment: MeteredSegment): string {
  if (!segment.isCordoned) return segment.unavailableBecause;
  const worksAllTheTime = segment.busyMillis === segment.untilMillis - segment.fromMillis;
  return segment.unavailableBecause === "" || worksAllTheTime ? "cordoned" : segment.unavailableBecause;
}

const WINDOWS = { hour: HOUR, day: 24 * HOUR, period: Infinity } as const;

/** The scope within which lines are spread: the node, pool, model or cluster, in an hour, a day or the period. */
function scopeOf(node: ScenarioNode, at: number, { spread: { over, window } }: Policy): string {
  const place = { node: node.name, pool: node.pool ?? "", model: node.model, cluster: "" }[over];
  const begin = window === "period" ? 0 : Math.floor(at / WINDOWS[window]);
  return JSON.stringify([node.cluster, place, begin]);
}

function nonGpuOf(scenario: Scenario, node: ScenarioNode, prices: readonly Stretch[], book: PriceBook): BillLine[] {
  const appeared = node.from ?? scenario.period.start;
  return piecesOf(scenario, node, prices).flatMap(({ stretch, from, until }) => {
    const priced = costsOf(stretch, book, [from, until], { appeared, part: gpuPartOf(node.instanceType) });
    if (priced === undefined || priced.per === "gpu-hour") return [];
    const { nonGpu } = divideNodeCost(priced.costs.effective, node.delivered ?? node.gpus, priced.gpuPart);
    if (nonGpu === 0n) return [];
    const dimensions = { team: "platform", state: "non-gpu", node: node.name, cluster: node.cluster };
    return [{ dimensions, gpuHours: lastUnits<"gpu-hour">(0n), cost: nonGpu }];
  });
}

function dimensionsOf(
  scenario: Scenario,
  node: ScenarioNode,
  index: number,
  pod: ScenarioPod | undefined,
  { state, fromMillis }: ChargeLine,
  policy: Policy,
  more: { readonly isCommon: boolean; readonly because: string },
): Readonly<Record<string, string>> {
  const isHolders = pod !== undefined && payerOf(state, policy) === "holder";
  const owned = (kind: "team" | "costCenter" | "project" | "environment"): string =>
    pod === undefined ? "" : (ownerAt(scenario, pod, node, kind, fromMillis) ?? (kind === "team" ? UNOWNED : ""));
  return {
    cluster: node.cluster,
    node: node.name,
    gpu: String(index),
    gpuModel: canonicalModel(node.model),
    layout: gpuAt(scenario, node, index, fromMillis).layout.kind,
    capacityType: node.capacityType,
    state,
    team: isHolders ? owned("team") : "platform",
    costCenter: isHolders ? owned("costCenter") : "",
    project: owned("project"),
    environment: owned("environment"),
    namespace: pod?.namespace ?? "",
    pod: pod?.name ?? "",
    workload: pod === undefined ? "" : (pod.workload?.name ?? pod.name),
    workloadKind: pod === undefined ? "" : (pod.workload?.kind ?? "Pod"),
    type: pod === undefined ? "" : typeOf(pod),
    queue: pod?.queue ?? "",
    priorityClass: pod?.priorityClass ?? "",
    attribution: more.isCommon ? "node" : (pod?.evidence ?? ""),
    because: more.because,
    ...Object.fromEntries(Object.entries(pod?.labels ?? {}).map(([name, value]) => [`label.${name}`, value])),
  };
}

function typeOf(pod: ScenarioPod): string {
  if (pod.type !== undefined) return pod.type;
  const kind = pod.workload?.kind;
  const owner = ownerKinds().all.find((each) => each.kind === kind);
  const owners = owner === undefined ? [] : [{ apiVersion: `${owner.group}/v1`, kind: owner.kind, name: "", uid: "" }];
  return workloadType({ owners, labels: pod.labels, overrides: [] }, ownerKinds()).type;
}

function ownerAt(
  scenario: Scenario,
  pod: ScenarioPod,
  node: ScenarioNode,
  kind: "team" | "costCenter" | "project" | "environment",
  at: number,
): string | undefined {
  const states = scenario.namespaces[pod.namespace];
  const dated = states === undefined ? [] : Array.isArray(states) ? states : [states];
  const namespace = dated.filter(({ from = -Infinity }) => from <= at).at(-1)?.labels ?? {};
  for (const rule of scenario.owners[kind]) {
    const found =
      "podLabel" in rule
        ? (pod.labels[rule.podLabel] ?? pod.annotations[rule.podLabel])
        : "ownerLabel" in rule
          ? pod.workload?.labels[rule.ownerLabel]
          : "namespaceLabel" in rule
            ? namespace[rule.namespaceLabel]
            : "podAnnotation" in rule
              ? pod.annotations[rule.podAnnotation]
              : isMeant(rule, pod, node)
                ? rule.value
                : undefined;
    const isTeam = found !== "platform" && found !== "unowned" && (scenario.register ?? [found]).includes(found ?? "");
    if (found !== undefined && found !== "" && (kind !== "team" || isTeam)) return found;
  }
  return undefined;
}

/** The owner that the rules give for a node's pool, by the pool's whole name. */
function poolOwnerOf(
  { owners, register }: Scenario,
  { pool }: ScenarioNode,
): Readonly<Record<string, string>> | undefined {
  const named = (kind: "team" | "costCenter" | "project" | "environment"): string =>
    owners[kind].flatMap((rule) => ("pool" in rule && rule.pool === pool ? [rule.value] : []))[0] ?? "";
  const team = named("team");
  return team === "" || register?.includes(team) === false
    ? undefined
    : { team, costCenter: named("costCenter"), project: named("project"), environment: named("environment") };
}

function isMeant(rule: object, pod: ScenarioPod, node: ScenarioNode): boolean {
  const given = rule as { namespace?: string; queue?: string; pool?: string; workload?: string };
  const glob = (pattern: string, text: string): boolean =>
    new RegExp(`^${pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`).test(text);
  if (given.namespace !== undefined) return glob(given.namespace, pod.namespace);
  if (given.queue !== undefined) return given.queue === pod.queue;
  if (given.pool !== undefined) return given.pool === node.pool;
  return given.workload === (pod.workload?.name ?? pod.name);
}
