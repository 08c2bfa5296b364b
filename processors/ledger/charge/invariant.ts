import type { Charge } from "../../../domain/charge/charge.ts";
import { steadyAccrual } from "../../../domain/exact/accrual.ts";
import { ONE } from "../../../domain/exact/rational.ts";
import { formatAmount, type Amount, type Quantity } from "../../../domain/exact/units.ts";
import type { ChargedNode } from "./charge-node.ts";

/** Charges of a GPU, or of a node, that do not sum to what it cost, or to the time that it existed. */
export interface Breach {
  readonly policy: string;
  readonly node: string;
  /** The GPU's index; empty for the rest of a node. */
  readonly slot: string;
  readonly what: "gpu-hours" | "list" | "contracted" | "effective";
  readonly expected: string;
  readonly found: string;
}

type Sums = Record<Breach["what"], bigint>;

/**
 * Holds the charges of an hour, spread or not, against what each GPU and node cost and how long it existed, from the price book and
 * the clock alone: each breach by name, none where every sum is exact to the last unit (ledger, "Invariant").
 */
export function breachesOf(
  policy: string,
  node: string,
  { slots }: Pick<ChargedNode, "slots">,
  charges: readonly Charge[],
): readonly Breach[] {
  const expected = new Map<string, Sums>();
  for (const { slot, charged } of slots) {
    const of = sumsOf(expected, String(slot));
    for (const { fromMillis, untilMillis, price } of charged.pieces) {
      const hours = steadyAccrual<"gpu-hour">(ONE, charged.lines[0]!.hour.place.appearedAt);
      of["gpu-hours"] += hours.roundedAt(untilMillis) - hours.roundedAt(fromMillis);
      addCosts(of, price?.gpu(slot));
      if (slot === 0) addCosts(sumsOf(expected, ""), price?.nonGpu);
    }
  }
  const found = new Map<string, Sums>();
  for (const { slot, gpuHours, costs } of charges) {
    const of = sumsOf(found, slot === undefined ? "" : String(slot));
    of["gpu-hours"] += gpuHours;
    addCosts(of, costs);
  }
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((slot) => {
    const [wanted, got] = [sumsOf(expected, slot), sumsOf(found, slot)];
    return (Object.keys(wanted) as Breach["what"][]).flatMap((what) =>
      wanted[what] === got[what]
        ? []
        : [{ policy, node, slot, what, expected: text(wanted[what]), found: text(got[what]) }],
    );
  });
}

function sumsOf(all: Map<string, Sums>, slot: string): Sums {
  const known = all.get(slot) ?? { "gpu-hours": 0n, list: 0n, contracted: 0n, effective: 0n };
  all.set(slot, known);
  return known;
}

function addCosts(sums: Sums, costs: Charge["costs"]): void {
  if (costs === undefined) return;
  sums.list += costs.list;
  sums.contracted += costs.contracted;
  sums.effective += costs.effective;
}

function text(amount: bigint): string {
  return formatAmount(amount as Amount<Quantity>);
}
