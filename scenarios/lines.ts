import type { BookedCharge } from "../runtime/store/schema/charges.ts";
import { HOLDER_DIMENSIONS, LABEL_DIMENSION, MACHINE_DIMENSIONS } from "../domain/charge/dimension.ts";
import { lastUnits, sum, type Amount, type Quantity } from "../domain/exact/units.ts";
import { DIMENSIONS } from "../domain/owner/owner.ts";
import { dateText } from "../domain/period.ts";
import type { Bill, BillLine } from "./bill.ts";
import type { ServedLine } from "./served.ts";

/** A booked charge of any policy. */
type BilledCharge = Omit<BookedCharge, "policy">;

/** A charge that is not booked. Its billing period is the month of its time, and it corrects nothing. */
type SummedCharge = Omit<BilledCharge, "billingPeriod" | "corrects">;

/** Returns charges as a scenario's bill. Corrections of closed periods are separate, and not in its total. */
export function billOf(charges: readonly BilledCharge[], served: readonly ServedLine[] = []): Bill {
  const own = charges.filter(({ corrects }) => corrects === "");
  const corrections = charges.filter(({ corrects }) => corrects !== "");
  return {
    lines: own.map(lineOf),
    total: sum(own.flatMap(({ costs }) => costs?.effective ?? [])),
    ...(corrections.length === 0 ? {} : { corrections: corrections.map(lineOf) }),
    ...(served.length === 0 ? {} : { served }),
  };
}

/** The values of each dimension of a charge under the names of `scenarios.md`, but for labels. A value is empty if a charge has none. */
const VALUES: Readonly<Record<string, (charge: SummedCharge) => string>> = {
  ...Object.fromEntries(DIMENSIONS.map((name) => [name, (charge: SummedCharge) => charge[name]])),
  payer: ({ payer }) => payer,
  cluster: ({ cluster }) => cluster,
  node: ({ node }) => node,
  ...Object.fromEntries(MACHINE_DIMENSIONS.map((name) => [name, (charge: SummedCharge) => charge[name]])),
  state: ({ state }) => state,
  because: ({ because }) => because,
  gpu: ({ slot }) => (slot === undefined ? "" : String(slot)),
  ...Object.fromEntries(HOLDER_DIMENSIONS.map((name) => [name, ({ holder }: SummedCharge) => holder?.[name] ?? ""])),
  attribution: ({ holder }) => holder?.attribution ?? "",
  chargeDay: ({ fromMillis }) => dateText(fromMillis),
  chargePeriod: ({ fromMillis }) => dateText(fromMillis).slice(0, 7),
  billingPeriod: ({ fromMillis }) => dateText(fromMillis).slice(0, 7),
  unpriced: ({ costs }) => (costs === undefined ? "true" : ""),
};

/** Returns a charge with its dimensions. */
function lineOf(charge: BilledCharge): BillLine {
  const { holder, costs, gpuHours, millijoules, carbon } = charge;
  const labels = Object.entries(holder?.labels ?? {}).map(([name, value]) => [LABEL_DIMENSION + name, value] as const);
  const values = Object.entries(VALUES).map(([name, valueOf]) => [name, valueOf(charge)] as const);
  const billingPeriod = dateText(charge.billingPeriod).slice(0, 7);
  return {
    dimensions: { ...Object.fromEntries([...values, ...labels]), billingPeriod },
    gpuHours,
    cost: costs?.effective,
    millijoules,
    carbon,
  };
}

/** A bill in the making, of which only the groups are in memory. */
export interface BillSums {
  add(charge: SummedCharge): void;
  /** Returns the bill with one line for each group. A group has a cost if one of its charges has one. */
  bill(): Bill;
}

/** Creates the sums of charges by some dimensions. */
export function createBillSums(by: readonly string[]): BillSums {
  const values = by.map((name): ((charge: SummedCharge) => string) => {
    if (!name.startsWith(LABEL_DIMENSION)) return VALUES[name] ?? (() => "");
    const label = name.slice(LABEL_DIMENSION.length);
    return ({ holder }) => holder?.labels[label] ?? "";
  });
  const groups = new Map<string, GroupSums>();
  return {
    add(charge) {
      const ofCharge = values.map((valueOf) => valueOf(charge));
      const key = ofCharge.join("\n");
      let group = groups.get(key);
      if (group === undefined) {
        group = { values: ofCharge, gpuHours: 0n, cost: undefined, millijoules: undefined, carbon: undefined };
        groups.set(key, group);
      }
      const { costs, gpuHours, millijoules, carbon } = charge;
      group.gpuHours += gpuHours;
      if (costs !== undefined) group.cost = (group.cost ?? 0n) + costs.effective;
      if (millijoules !== undefined) group.millijoules = (group.millijoules ?? 0n) + millijoules;
      if (carbon !== undefined) group.carbon = (group.carbon ?? 0n) + carbon;
    },
    bill() {
      const lines = [...groups.values()].map((group): BillLine => ({
        dimensions: Object.fromEntries(by.map((name, index) => [name, group.values[index]!])),
        gpuHours: lastUnits(group.gpuHours),
        cost: amountIn(group.cost),
        millijoules: group.millijoules,
        carbon: amountIn(group.carbon),
      }));
      return { lines, total: sum(lines.flatMap(({ cost }) => cost ?? [])) };
    },
  };
}

interface GroupSums {
  readonly values: readonly string[];
  gpuHours: bigint;
  cost: bigint | undefined;
  millijoules: bigint | undefined;
  carbon: bigint | undefined;
}

function amountIn<Of extends Quantity>(count: bigint | undefined): Amount<Of> | undefined {
  return count === undefined ? undefined : lastUnits(count);
}
