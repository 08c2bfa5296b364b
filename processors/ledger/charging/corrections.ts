import type { Charge } from "../../../domain/charge/charge.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { Markup } from "../../../domain/price/book.ts";
import { DEFAULT_SERVING } from "../../../domain/serving/rules.ts";
import type { Weights } from "../../../domain/policy/spread.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { publishCharges, type Charged, type ChargeFindings, type ChargeRules } from "./charge-window.ts";
import type { Breach } from "../charge/breach.ts";
import { keepBreaches } from "../runs/breaches.ts";
import { insertCharges } from "./charge-inserts.ts";
import { readReservations } from "./reservations.ts";
import { chargedNodes } from "./charged-nodes.ts";
import type { ClosedPeriod } from "../closed/closed.ts";
import { readBooked, type FrozenWeights } from "../closed/frozen.ts";
import type { RefusedTeam } from "../charge/charge-node.ts";
import { correctionBreaches, correctionsOf } from "../charge/corrections.ts";
import { breachesOf } from "../charge/invariant.ts";
import { markupCharges } from "../charge/markup.ts";
import { createNodePrices } from "../charge/node-prices.ts";
import { pricesOf } from "./read-invoiced.ts";
import { spreadChargesBy, weightsByQuota } from "../charge/spread-charges.ts";
import { announceRun, type Run } from "../runs/runs.ts";
import { insertServingLines, lineCorrections, readBookedLines } from "../serving/book-lines.ts";
import { readServices } from "../serving/services.ts";
import { createServingSplit, type UnsplitService } from "../serving/serving-split.ts";

/** A run of corrections. Its billing period is an open one. */
export type CorrectionRun = Run & { readonly billingPeriod: number };

/**
 * Computes the charges of an hour of a closed period again, with its frozen policies and spread weights and with the current prices, owners
 * and quotas. Publishes the difference to everything that closed periods have booked for the hour, as one run (docs/closing.md). Equal
 * inputs give equal rows. If sums are not exact, nothing is published. Fails with a `StoreError`.
 */
export async function correctWindow(
  store: StoreClient,
  run: CorrectionRun,
  { book, owners, energy, serving = DEFAULT_SERVING, invoices }: Omit<ChargeRules, "policies">,
  of: { readonly closing: ClosedPeriod; readonly weights: FrozenWeights; readonly basis: string },
): Promise<Charged> {
  const { closing, weights, basis } = of;
  const { policies, closeId } = closing;
  const breaches: Breach[] = [];
  const refusedScopes = new Set<string>();
  const unsplitServices: UnsplitService[] = [];
  await announceRun(store, run);
  const hour = await recompute(store, run, { book, owners, policies, energy, invoices });
  const services = await readServices(store, run, serving.models);
  breaches.push(...hour.breaches);
  for (const [index, policy] of policies.entries()) {
    const charges = hour.charges[index]!;
    const isSpread = charges.some(({ payer }) => payer === "spread");
    const byWeights = async (): Promise<Weights> =>
      policy.spread.by === "quota"
        ? weightsByQuota(charges, policy.spread, await readReservations(store, run, owners))
        : weights.of(closing, policy, run.windowStart);
    const recomputed = finish(charges, policy, {
      weights: isSpread ? await byWeights() : new Map(),
      markup: book.markup,
    });
    for (const scope of recomputed.refused) refusedScopes.add(scope);
    const booked = await readBooked(store, run, policy.name);
    const corrections = correctionsOf(recomputed.charges, booked);
    breaches.push(...correctionBreaches(policy.name, recomputed.charges, [...booked, ...corrections]));
    const { runId, billingPeriod, windowStart } = run;
    const booking = { run: runId, policy: policy.name, billingPeriod, corrects: closeId };
    await insertCharges(store, booking, corrections);
    const split = createServingSplit(policy.name, services, serving.rules);
    split.add(recomputed.charges);
    const served = await split.end();
    breaches.push(...served.breaches);
    unsplitServices.push(...served.unsplit);
    const bookedLines = await readBookedLines(store, run, policy.name);
    await insertServingLines(store, booking, windowStart, lineCorrections(served.lines, bookedLines));
  }
  const findings = { ...hour.findings, breaches, refusedScopes: [...refusedScopes], unsplitServices };
  if (breaches.length > 0) {
    await keepBreaches(store, run, breaches);
    return { ...findings, chargeRows: 0 };
  }
  return { ...findings, chargeRows: await publishCharges(store, "correction", run, basis) };
}

/** Returns the charges of an hour under each policy, before anything is spread. The whole hour of a cluster is held in memory. */
async function recompute(
  store: StoreClient,
  run: Run,
  { book, owners, policies, energy, invoices }: ChargeRules,
): Promise<{
  readonly charges: readonly (readonly Charge[])[];
  readonly breaches: readonly Breach[];
  readonly findings: Pick<ChargeFindings, "refusedTeams" | "unpricedGpuHours">;
}> {
  const charges: Charge[][] = policies.map(() => []);
  const breaches: Breach[] = [];
  const refusedTeams = new Map<string, RefusedTeam>();
  for await (const { node, charged } of chargedNodes(store, run, {
    ...(await pricesOf(store, run, { prices: createNodePrices(book), invoices })),
    owners,
    policies,
    energy,
  })) {
    if ("what" in charged) {
      breaches.push(charged);
      continue;
    }
    for (const refused of charged.refused) refusedTeams.set(JSON.stringify(refused), refused);
    for (const [index, { name }] of policies.entries()) {
      const ofNode = charged.charges[index]!;
      breaches.push(...breachesOf(name, node, charged, ofNode));
      for (const charge of ofNode) charges[index]!.push(charge);
    }
  }
  const unpriced = (charges[0] ?? []).filter(({ costs }) => costs === undefined);
  const unpricedGpuHours = unpriced.reduce((sum, { gpuHours }) => sum + Number(gpuHours), 0) / 1e9;
  return { charges, breaches, findings: { refusedTeams: [...refusedTeams.values()], unpricedGpuHours } };
}

/** Spreads an hour's charges by frozen weights and marks them up, in the same way as before and at the close. */
function finish(
  charges: readonly Charge[],
  { spread }: Policy,
  { weights, markup }: { readonly weights: Weights; readonly markup: readonly Markup[] },
): { readonly charges: readonly Charge[]; readonly refused: readonly string[] } {
  if (spread.window === "hour") {
    const done = spreadChargesBy(charges, spread, weights);
    return { charges: [...done.charges, ...markupCharges(done.charges, markup)], refused: done.refused };
  }
  const direct = charges.filter(({ payer }) => payer !== "spread");
  const late = spreadChargesBy(
    charges.filter(({ payer }) => payer === "spread"),
    spread,
    weights,
  );
  return {
    charges: [...direct, ...markupCharges(direct, markup), ...late.charges, ...markupCharges(late.charges, markup)],
    refused: late.refused,
  };
}
