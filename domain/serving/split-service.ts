import { isTeams } from "../charge/charge.ts";
import { groupedBy } from "../grouped.ts";
import { createSplit, split } from "../exact/split.ts";
import { lastUnits, type Money } from "../exact/units.ts";
import { cellsOf, inPhase, type Cell } from "./cells.ts";
import {
  addAmounts,
  isEmpty,
  mapAmounts,
  NO_AMOUNTS,
  NO_COUNTS,
  SERVING_COUNTS,
  type ServiceCharge,
  type ServingAmounts,
  type ServingCounts,
  type ServingLine,
  type ServingPayer,
} from "./line.ts";
import type { Service } from "./service.ts";
import {
  isBusy,
  phaseWeights,
  PHASES,
  type BusyPhase,
  type Phase,
  type SplitRule,
  type TokenWeights,
} from "./split-rule.ts";
import { tenantParts, UNATTRIBUTED, type TenantPart } from "./tenants.ts";
import { NO_WORK, type Work } from "./work.ts";

/** The rules of the split of a service. */
export interface ServingRule {
  readonly rule: SplitRule;
  readonly tokens: TokenWeights;
  /** The most tenants of a model; the others are one. */
  readonly mostTenants: number;
}

/** The cost of a phase of a model, for one payer. */
interface PhaseCost {
  readonly model: string;
  readonly phase: Phase;
  readonly bases: Set<string>;
  amounts: ServingAmounts;
}

/** The costs of one payer by model: one for each phase. */
interface PayerCosts {
  readonly payer: ServingPayer;
  readonly costs: ReadonlyMap<string, readonly PhaseCost[]>;
}

/**
 * Splits the charges of a service in one hour. The sum of all lines equals the sum of the charges, for each amount and payer, to the last
 * unit. The charges of each replica are split over phases and models ({@link cellsOf}), then the work of each model over tenants
 * ({@link tenantParts}). All splits are by largest remainder; ties are in the order of model, phase, tenant and adapter. Lines are sorted
 * by payer, model, phase, tenant and adapter.
 */
export function splitService(
  service: Service,
  charges: readonly ServiceCharge[],
  { rule, tokens, mostTenants }: ServingRule,
): readonly ServingLine[] {
  const payers = costsOf(service, charges, { rule, tokens });
  const works = new Map(service.works.map(({ model, work }) => [model, work]));
  const tenantsOf = groupedBy(service.tenants, ({ model }) => model);
  const lines: ServingLine[] = [];
  const { cluster, namespace, workloadKind, workload } = service;
  const name = { cluster, namespace, workloadKind, workload };
  for (const model of modelsOf(payers, works)) {
    const work = works.get(model) ?? NO_WORK;
    const parts = tenantParts(work, tenantsOf.get(model) ?? [], mostTenants);
    const ofPayers = partsOfPayers(parts, work, weightsOf(payers, model));
    const ofModel = { parts: parts.toSorted(inOrder), phases: phasesOf(work, { rule, tokens }) };
    for (const [index, { payer, costs }] of payers.entries()) {
      for (const line of linesOf(costs.get(model) ?? [], ofPayers[index]!, ofModel)) {
        const amounts = { ...line.amounts, gpuHours: line.amounts.gpuHours ?? 0n };
        if (!isEmpty(line)) lines.push({ ...name, ...payer, model, ...line, amounts });
      }
    }
  }
  return lines;
}

/** Splits the charges of each replica, and adds up its cells by payer. */
function costsOf(
  service: Service,
  charges: readonly ServiceCharge[],
  rule: Pick<ServingRule, "rule" | "tokens">,
): readonly PayerCosts[] {
  const payers = new Map<string, { readonly payer: ServingPayer; readonly costs: Map<string, PhaseCost> }>();
  const { replicas, frontend } = service;
  const all = { pods: [], targets: replicas.flatMap(({ targets }) => targets) };
  const sets = [...replicas, all].map(({ pods, targets }) => ({ pods, cells: cellsOf({ targets }, frontend, rule) }));
  const setOf = new Map(sets.flatMap((set, index) => set.pods.map((pod) => [pod, index] as const)));
  const sums = new Map<string, { readonly like: ServiceCharge; readonly set: number; amounts: ServingAmounts }>();
  for (const charge of charges) {
    const set = setOf.get(charge.pod) ?? sets.length - 1;
    const key = JSON.stringify([payerKey(charge.payer), set, charge.isStarting]);
    const sum = sums.get(key) ?? { like: charge, set, amounts: NO_AMOUNTS };
    sum.amounts = addAmounts(sum.amounts, charge.amounts);
    sums.set(key, sum);
  }
  for (const [, { like, set, amounts }] of [...sums].sort(byKey)) {
    const key = payerKey(like.payer);
    const { costs } = payers.get(key) ?? payers.set(key, { payer: like.payer, costs: new Map() }).get(key)!;
    const { cells } = sets[set]!;
    addCells(costs, like.isStarting ? inPhase(cells, "starting") : cells, amounts);
  }
  return [...payers].sort(byKey).map(([, { payer, costs }]) => ({
    payer,
    costs: groupedBy([...costs.values()], ({ model }) => model),
  }));
}

function addCells(costs: Map<string, PhaseCost>, cells: readonly Cell[], amounts: ServingAmounts): void {
  for (const [index, part] of splitAmounts(
    amounts,
    cells.map(({ share }) => share),
  ).entries()) {
    const { model, phase, basis } = cells[index]!;
    const key = JSON.stringify([model, phase]);
    const cost = costs.get(key) ?? { model, phase, bases: new Set(), amounts: NO_AMOUNTS };
    cost.amounts = addAmounts(cost.amounts, part);
    if (basis !== "none") cost.bases.add(basis);
    costs.set(key, cost);
  }
}

/** Splits each amount over the same weights, one of which is not 0. */
function splitAmounts(amounts: ServingAmounts, weights: Parameters<typeof createSplit>[0]): readonly ServingAmounts[] {
  const over = createSplit(weights)!;
  const parts = mapParts(amounts, over);
  return weights.map((_, index) => mapAmounts((name) => parts[name]?.[index]));
}

function mapParts(amounts: ServingAmounts, over: (amount: bigint) => readonly bigint[]) {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name, amount === undefined ? undefined : over(amount)]),
  ) as Readonly<Record<keyof ServingAmounts, readonly bigint[] | undefined>>;
}

function modelsOf(payers: readonly PayerCosts[], works: ReadonlyMap<string, Work>): readonly string[] {
  const models = payers.flatMap(({ costs }) => [...costs.keys()]);
  return [...new Set([...models, ...works.keys()])].sort();
}

/**
 * Returns the weight of each payer for the counts of a model: the GPU-hours of its work. A platform that pays for idle time has no part, if
 * a team pays for work.
 */
function weightsOf(payers: readonly PayerCosts[], model: string): readonly bigint[] {
  const hours = (isCounted: (payer: ServingPayer, phase: Phase) => boolean): readonly bigint[] =>
    payers.map(({ payer, costs }) => {
      const counted = (costs.get(model) ?? []).filter(({ phase }) => isCounted(payer, phase));
      return counted.reduce((sum, { amounts }) => sum + (amounts.gpuHours ?? 0n), 0n);
    });
  const tries = [
    hours((payer, phase) => isTeams(payer) && isBusy(phase)),
    hours((payer) => isTeams(payer)),
    hours(() => true),
  ];
  return (
    tries.find((weights) => weights.some((weight) => weight > 0n)) ?? payers.map((_, index) => (index === 0 ? 1n : 0n))
  );
}

/** A tenant's part of a model's work that belongs to one payer. */
type PaidPart = Pick<TenantPart, "adapter" | "tenant"> & ServingCounts;

/** Divides the counts of each tenant over payers. */
function partsOfPayers(
  parts: readonly TenantPart[],
  { inferences }: Work,
  weights: readonly bigint[],
): readonly (readonly PaidPart[])[] {
  const paid: PaidPart[][] = weights.map(() => []);
  for (const [at, part] of parts.entries()) {
    // No gateway counts inferences of a tenant, so the last part has all of them.
    const counts = { ...NO_COUNTS, ...part, inferences: at === parts.length - 1 ? inferences : 0 };
    const divided = Object.fromEntries(
      SERVING_COUNTS.map((name) => [name, split(BigInt(counts[name]), weights) ?? []]),
    ) as unknown as Record<keyof ServingCounts, readonly bigint[]>;
    for (const [index, ofPayer] of paid.entries()) {
      const own = Object.fromEntries(SERVING_COUNTS.map((name) => [name, Number(divided[name][index] ?? 0n)]));
      ofPayer.push({ adapter: part.adapter, tenant: part.tenant, ...(own as unknown as ServingCounts) });
    }
  }
  return paid.map((ofPayer) => ofPayer.toSorted(inOrder));
}

function inOrder(a: Pick<TenantPart, "tenant" | "adapter">, b: Pick<TenantPart, "tenant" | "adapter">): number {
  return order(JSON.stringify([a.tenant, a.adapter]), JSON.stringify([b.tenant, b.adapter]));
}

/** Returns the phases of a model's work, as its counters separate them. */
function phasesOf(work: Work, { rule, tokens }: Pick<ServingRule, "rule" | "tokens">): readonly BusyPhase[] {
  const [weights = {}] = phaseWeights(rule, [work], tokens).weights;
  return BUSY_PHASES.filter((phase) => (weights[phase] ?? 0) > 0);
}

const BUSY_PHASES = PHASES.filter(isBusy);

type Line = Omit<ServingLine, keyof ServingPayer | "cluster" | "namespace" | "workloadKind" | "workload" | "model">;

/** The counts that stand in the lines of each phase of work. */
const COUNTED: Readonly<Partial<Record<Phase, readonly (keyof ServingCounts)[]>>> = {
  prefill: ["computedTokens", "cachedTokens"],
  decode: ["generatedTokens"],
};

/** The whole work of a model, of all payers. */
interface ModelParts {
  /** The parts of tenants, in the order of a payer's parts. */
  readonly parts: readonly TenantPart[];
  readonly phases: readonly BusyPhase[];
}

/** Returns the lines of a model for one payer. Work without a cost gets lines without amounts, so that no token is lost. */
function linesOf(costs: readonly PhaseCost[], parts: readonly PaidPart[], whole: ModelParts): readonly Line[] {
  const byPhase = new Map(costs.map((cost) => [cost.phase, cost]));
  const charged = BUSY_PHASES.filter((phase) => byPhase.has(phase));
  const worked = charged.length > 0 ? charged : whole.phases;
  const last = worked.at(-1) ?? "inference";
  const lines = costs
    .filter(({ phase }) => !isBusy(phase))
    .map((cost) => ({ ...lineOf(cost), adapter: "", tenant: "" }));
  for (const phase of worked.length === 0 ? [last] : worked) {
    const names = new Set<keyof ServingCounts>(COUNTED[phase] ?? []);
    // Counts of a phase without a cost of its own stand in the last phase of work.
    if (phase === last)
      for (const name of SERVING_COUNTS)
        if (!worked.some((other) => other !== phase && COUNTED[other]?.includes(name))) names.add(name);
    const cost = byPhase.get(phase);
    const amounts =
      cost === undefined ? parts.map(() => NO_AMOUNTS) : overTenants(phase, cost.amounts, parts, whole.parts);
    for (const [index, part] of parts.entries()) {
      const counts = Object.fromEntries(
        SERVING_COUNTS.map((name) => [name, names.has(name) ? part[name] : 0]),
      ) as unknown as ServingCounts;
      lines.push({
        ...lineOf({ phase, bases: cost?.bases ?? new Set() }),
        adapter: part.adapter,
        tenant: part.tenant,
        amounts: amounts[index]!,
        counts,
        saved: phase === "prefill" ? savedBy(amounts[index]!, counts) : NOTHING_SAVED,
      });
    }
  }
  return lines.toSorted((a, b) => order(lineKey(a), lineKey(b)));
}

/**
 * Splits the cost of a phase over tenants by the payer's tokens of that phase. A payer without tokens, such as a platform that pays for the
 * unused part of a GPU, has the tenants of the whole model. If the phase has no tokens at all, because they came from another engine, all
 * tokens of the model count.
 */
function overTenants(
  phase: BusyPhase,
  amounts: ServingAmounts,
  parts: readonly PaidPart[],
  whole: readonly TenantPart[],
): readonly ServingAmounts[] {
  const weights = [
    parts.map(TOKENS[phase]),
    whole.map(TOKENS[phase]),
    whole.map((part) => part.computedTokens + part.cachedTokens + part.generatedTokens),
    whole.map(({ tenant }) => (tenant === UNATTRIBUTED || tenant === "" ? 1 : 0)),
  ];
  return splitAmounts(
    amounts,
    weights.find((each) => each.some((weight) => weight > 0))!,
  );
}

type Tokens = Pick<TenantPart, "computedTokens" | "generatedTokens">;

/** The tokens by which the cost of a phase is split over tenants. */
const TOKENS: Readonly<Record<BusyPhase, (part: Tokens) => number>> = {
  prefill: ({ computedTokens }) => computedTokens,
  decode: ({ generatedTokens }) => generatedTokens,
  inference: ({ computedTokens, generatedTokens }) => computedTokens + generatedTokens,
};

/** Returns the cost that the cached tokens of a line would have added: its effective cost × cached ÷ computed tokens, rounded down. */
function savedBy({ effective = 0n }: ServingAmounts, { cachedTokens, computedTokens }: ServingCounts): Money {
  return lastUnits(computedTokens === 0 ? 0n : (effective * BigInt(cachedTokens)) / BigInt(computedTokens));
}

const NOTHING_SAVED = lastUnits<"currency">(0n);

function lineOf({ phase, bases, amounts = NO_AMOUNTS }: Pick<PhaseCost, "phase" | "bases"> & Partial<PhaseCost>) {
  return { phase, basis: [...bases].sort().join(", "), amounts, counts: NO_COUNTS, saved: NOTHING_SAVED };
}

function payerKey({ payer, gpuModel, team, costCenter, project, environment }: ServingPayer): string {
  return JSON.stringify([payer, team, costCenter, project, environment, gpuModel]);
}

function lineKey({ phase, tenant, adapter }: Pick<Line, "phase" | "tenant" | "adapter">): string {
  return JSON.stringify([phase, tenant, adapter]);
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return order(a, b);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
