import { incurredIn } from "../../domain/exact/accrual.ts";
import { divide, multiply, rational } from "../../domain/exact/rational.ts";
import { exactly, formatAmount, roundToLastUnit, type GpuHours } from "../../domain/exact/units.ts";
import type { StandingEntry } from "../../domain/price/book.ts";
import { standingCost } from "../../domain/price/cost.ts";
import { heldOf } from "../../domain/price/unused.ts";
import { EXACT_HOUR_MILLIS } from "../../domain/time.ts";
import { commitmentId } from "./identity.ts";
import type { PricedPart } from "./priced-part.ts";
import type { Part } from "./part.ts";
import type { FocusSetting } from "./setting.ts";

/** The type of a commitment for people: for a number of GPUs, or for an amount of money. */
export const COMMITMENT_TYPES = { Usage: "GPU commitment", Spend: "Spend commitment" } as const;

/** Returns FOCUS's category of a commitment: Usage for a number of GPUs, else Spend. */
export function commitmentCategory({ quantity }: StandingEntry): keyof typeof COMMITMENT_TYPES {
  return quantity === undefined ? "Spend" : "Usage";
}

/**
 * Returns the commitment whose unused part a part is; undefined for other parts, in 1.3, and if the price book does not have the commitment
 * any more. Other charges have no commitment, because the ledger does not record which GPU took up which one.
 */
export function unusedCommitment(
  { state, origin }: Pick<Part, "state" | "origin">,
  { version, book }: Pick<FocusSetting, "version" | "book">,
): StandingEntry | undefined {
  if (version === "1.3" || state !== "unused commitment") return undefined;
  return book?.commitments.find(({ name }) => name === origin.price);
}

/** The unused amount of a commitment and its unit: a currency, or GPU-hours. */
interface Unused {
  readonly quantity: string;
  readonly unit: string;
}

/** Returns the unused amount of a commitment in its own unit; undefined for other rows, and for a row without a unit price. */
export function unusedAmount({ part, prices }: PricedPart, setting: FocusSetting): Unused | undefined {
  const entry = unusedCommitment(part, setting);
  if (entry === undefined || prices === undefined || part.origin.isCorrection) return undefined;
  if (entry.quantity === undefined) return { quantity: formatAmount(part.effective), unit: setting.currency };
  const hours = unusedGpuHours(entry, part, setting);
  return hours === undefined ? undefined : { quantity: formatAmount(hours), unit: "GPU-Hours" };
}

/**
 * Returns ContractApplied of the unused part of a commitment, as JSON. A commitment of GPUs has GPU-hours, others and corrections have a
 * cost. The JSON is written without a library: its numbers are exact decimals.
 */
export function contractApplied(row: PricedPart, setting: FocusSetting): string | undefined {
  const entry = unusedCommitment(row.part, setting);
  if (entry === undefined) return undefined;
  const id = JSON.stringify(commitmentId(entry));
  const unused = unusedAmount(row, setting);
  const applied =
    unused === undefined || entry.quantity === undefined
      ? `"ContractCommitmentAppliedCost":${formatAmount(row.part.effective)}`
      : `"ContractCommitmentAppliedQuantity":${unused.quantity},"ContractCommitmentAppliedUnit":"${unused.unit}"`;
  return `{"Elements":[{"ContractId":${id},"ContractCommitmentId":${id},${applied}}]}`;
}

/** Returns the committed GPU-hours of an entry in a span, in exact hours. */
export function committedGpuHours(
  entry: StandingEntry,
  { from, until }: { readonly from: number; readonly until: number },
) {
  return multiply(entry.quantity!, rational(BigInt(until - from), EXACT_HOUR_MILLIS));
}

/** The unused part of the cost of a span is the unused part of its GPU-hours. */
function unusedGpuHours(
  entry: StandingEntry,
  { origin, effective }: Part,
  { book }: FocusSetting,
): GpuHours | undefined {
  const held = heldOf(entry, origin);
  const due = held === undefined ? 0n : incurredIn(standingCost(entry, book!), held.from, held.until);
  if (held === undefined || due === 0n) return undefined;
  return roundToLastUnit(
    multiply(committedGpuHours(entry, held), divide(exactly(effective), rational(due, 1_000_000_000n))),
  );
}
