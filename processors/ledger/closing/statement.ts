import { createHash } from "node:crypto";
import { rational, roundedDecimal } from "../../../domain/exact/rational.ts";
import { roundTogether } from "../../../domain/exact/round-together.ts";
import {
  formatAmount,
  LAST_UNIT_DIGITS,
  lastUnits,
  sum,
  type Amount,
  type Quantity,
} from "../../../domain/exact/units.ts";
import { UNOWNED } from "../../../domain/owner/owner.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { inOrder } from "../../../domain/policy/spread.ts";
import { minorDigitsOf } from "../../../domain/price/currency.ts";
import type { LineSum } from "./line-sums.ts";

/** The totals of one statement or of all. Amounts are exact decimal texts in the currency and in GPU-hours. */
export interface Totals {
  readonly list: string;
  readonly contracted: string;
  readonly effective: string;
  /** The parts of the effective cost that correct earlier periods, and that were invoiced beyond the computed cost. */
  readonly corrections: string;
  readonly trueUp: string;
  /** Rounded to the currency's minor unit, so that statements add up to the posted total. */
  readonly posted: string;
  readonly gpuHours: string;
  /** GPU-hours without a price. They have no cost. */
  readonly unpricedGpuHours: string;
  /** GPU-hours that workloads held, and the part of them without samples. */
  readonly heldGpuHours: string;
  readonly unobservedGpuHours: string;
  /** The part of the held hours with telemetry, at most 1; null if nothing was held. */
  readonly coverage: string | null;
  readonly lines: number;
}

/** The amounts that a team and cost center must pay. */
export interface StatementSums extends Totals {
  readonly team: string;
  readonly costCenter: string;
  readonly states: readonly { readonly state: string; readonly gpuHours: string; readonly cost: string }[];
}

/** All statements of a period, with their totals. */
export interface Statements {
  readonly total: Totals;
  /** Effective cost without an owner. */
  readonly unowned: string;
  /** Sorted by team and cost center. */
  readonly statements: readonly StatementSums[];
}

/**
 * Computes the statements from sums of lines, one for each team and cost center: exact, and posted in the currency's minor unit by largest
 * remainder. Ties are in the order of team and cost center.
 */
export function statementsOf(sums: readonly LineSum[], currency: string): Statements {
  const groups = new Map<string, { readonly team: string; readonly costCenter: string; readonly sums: LineSum[] }>();
  for (const one of sums) {
    const { team, costCenter } = one;
    const key = JSON.stringify([team, costCenter]);
    const group = groups.get(key) ?? { team, costCenter, sums: [] };
    groups.set(key, group);
    group.sums.push(one);
  }
  const ordered = inOrder([...groups.values()]);
  const posted = postedOf(
    ordered.map((group) => effectiveOf(group.sums)),
    currency,
  );
  return {
    total: totalsOf(sums, sum(posted)),
    unowned: formatAmount(effectiveOf(sums.filter(({ team }) => team === UNOWNED))),
    statements: ordered.map(({ team, costCenter, sums: own }, index) => ({
      team,
      costCenter,
      ...totalsOf(own, posted[index]!),
      states: statesOf(own),
    })),
  };
}

/** Rounds amounts of money together to a currency's minor unit, so that they add up to their rounded sum. */
export function postedOf(amounts: readonly Amount<"currency">[], currency: string): readonly Amount<"currency">[] {
  return roundTogether(amounts, 10n ** BigInt(LAST_UNIT_DIGITS - (minorDigitsOf(currency) ?? 2)));
}

function totalsOf(sums: readonly LineSum[], posted: Amount<"currency">): Totals {
  const of = (value: (line: LineSum) => bigint, lines = sums): bigint =>
    lines.reduce((total, line) => total + value(line), 0n);
  const corrections = sums.filter(({ isCorrection }) => isCorrection);
  const own = sums.filter(({ isCorrection }) => !isCorrection);
  const held = own.filter(({ isHeld, state }) => isHeld && state !== "unavailable");
  const heldHours = of(({ gpuHours }) => gpuHours, held);
  const unobserved = of(
    ({ gpuHours }) => gpuHours,
    held.filter(({ state }) => state === "unobserved"),
  );
  return {
    list: text(of(({ list }) => list)),
    contracted: text(of(({ contracted }) => contracted)),
    effective: text(of(({ effective }) => effective)),
    corrections: text(of(({ effective }) => effective, corrections)),
    trueUp: text(
      of(
        ({ effective }) => effective,
        own.filter(({ state }) => state === "true-up"),
      ),
    ),
    posted: formatAmount(posted),
    gpuHours: text(of(({ gpuHours }) => gpuHours)),
    unpricedGpuHours: text(of(({ unpriced }) => unpriced)),
    heldGpuHours: text(heldHours),
    unobservedGpuHours: text(unobserved),
    coverage: heldHours === 0n ? null : roundedDecimal(rational(heldHours - unobserved, heldHours), 6),
    lines: sums.reduce((count, { lines }) => count + lines, 0),
  };
}

function statesOf(sums: readonly LineSum[]): StatementSums["states"] {
  const states = new Map<string, { gpuHours: bigint; cost: bigint }>();
  for (const { state, gpuHours, effective } of sums) {
    const known = states.get(state) ?? { gpuHours: 0n, cost: 0n };
    states.set(state, { gpuHours: known.gpuHours + gpuHours, cost: known.cost + effective });
  }
  return [...states]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([state, { gpuHours, cost }]) => ({ state, gpuHours: text(gpuHours), cost: text(cost) }));
}

function effectiveOf(sums: readonly LineSum[]): Amount<"currency"> {
  return sum(sums.map(({ effective }) => lastUnits<"currency">(effective)));
}

function text(amount: bigint): string {
  return formatAmount(lastUnits<Quantity>(amount));
}

/** A statement in its stored form: the amounts for the team, and the inputs from which they were computed. */
export interface StatementDocument extends StatementSums {
  readonly format: "gpu-ledger statement 1";
  readonly billingPeriod: string;
  readonly currency: string;
  /** The billing policy. */
  readonly policy: Policy;
  /** Versions of the price book and of all rules: SHA-256 of their content. */
  readonly priceBook: string;
  readonly rules: string;
  /** SHA-256 of all lines, hour by hour. */
  readonly linesHash: string;
}

/** Returns a document's text and its SHA-256. */
export function sealed(document: object): { readonly text: string; readonly hash: string } {
  const written = JSON.stringify(document);
  return { text: written, hash: sha256(written) };
}

/** Returns the SHA-256 of a text in hexadecimal. */
export function sha256(written: string): string {
  return createHash("sha256").update(written).digest("hex");
}
