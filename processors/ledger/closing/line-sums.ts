import type { Charge } from "../../../domain/charge/charge.ts";
import { amountOf } from "../../../domain/exact/units.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";

/**
 * Sums of lines with the same payer and state, grouped by whether they are held and whether they are corrections. Amounts are in last
 * units.
 */
export interface LineSum {
  readonly team: string;
  readonly costCenter: string;
  readonly state: string;
  readonly isCorrection: boolean;
  readonly isHeld: boolean;
  readonly lines: number;
  readonly gpuHours: bigint;
  readonly unpriced: bigint;
  readonly list: bigint;
  readonly contracted: bigint;
  readonly effective: bigint;
}

const FROZEN = `
SELECT team, cost_center AS costCenter, state, corrects != '' AS isCorrection, holder != '' AS isHeld,
  toFloat64(count()) AS lines, toString(sum(gpu_hours)) AS gpuHours, toString(sumIf(gpu_hours, effective_cost IS NULL)) AS unpriced,
  toString(sum(ifNull(list_cost, 0))) AS list, toString(sum(ifNull(contracted_cost, 0))) AS contracted,
  toString(sum(ifNull(effective_cost, 0))) AS effective
FROM charges
WHERE policy = {policy:String} AND payer != 'spread'
  AND run_id IN (SELECT run_id FROM closed_runs WHERE close_id = toUUID({close:String}) AND kind IN {kinds:Array(String)})
GROUP BY team, costCenter, state, isCorrection, isHeld`;

type SumRow = Readonly<
  Record<"team" | "costCenter" | "state" | "gpuHours" | "unpriced" | "list" | "contracted" | "effective", string>
> & {
  readonly isCorrection: boolean | number;
  readonly isHeld: boolean | number;
  readonly lines: number;
};

/** Reads the sums of the runs that a closing froze under a policy, without lines that wait to be spread. Fails with a `StoreError`. */
export async function readLineSums(
  store: StoreClient,
  of: {
    readonly closeId: string;
    readonly policy: string;
    readonly kinds: readonly ("charge" | "correction" | "close")[];
  },
): Promise<readonly LineSum[]> {
  const { policy, closeId: close, kinds } = of;
  const rows = await store.query<SumRow>(FROZEN, { policy, close, kinds });
  return rows.map(({ team, costCenter, state, isCorrection, isHeld, lines, ...amounts }) => ({
    team,
    costCenter,
    state,
    isCorrection: Boolean(isCorrection),
    isHeld: Boolean(isHeld),
    lines,
    gpuHours: amountOf(amounts.gpuHours),
    unpriced: amountOf(amounts.unpriced),
    list: amountOf(amounts.list),
    contracted: amountOf(amounts.contracted),
    effective: amountOf(amounts.effective),
  }));
}

/** The same sums for charges that are not corrections, added as they come. */
export interface LineSumming {
  add(charges: readonly Charge[]): void;
  readonly sums: readonly LineSum[];
}

/** Creates empty sums. */
export function createLineSumming(): LineSumming {
  const sums = new Map<string, LineSum>();
  return {
    add(charges) {
      for (const { team, costCenter, state, holder, gpuHours, costs } of charges) {
        const isHeld = holder !== undefined;
        const key = JSON.stringify([team, costCenter, state, isHeld]);
        const one = {
          team,
          costCenter,
          state,
          isHeld,
          isCorrection: false,
          lines: 1,
          gpuHours,
          unpriced: costs === undefined ? gpuHours : 0n,
          list: costs?.list ?? 0n,
          contracted: costs?.contracted ?? 0n,
          effective: costs?.effective ?? 0n,
        };
        const known = sums.get(key);
        sums.set(key, known === undefined ? one : plus(known, one));
      }
    },
    get sums() {
      return [...sums.values()];
    },
  };
}

function plus(one: LineSum, other: LineSum): LineSum {
  return {
    ...one,
    lines: one.lines + other.lines,
    gpuHours: one.gpuHours + other.gpuHours,
    unpriced: one.unpriced + other.unpriced,
    list: one.list + other.list,
    contracted: one.contracted + other.contracted,
    effective: one.effective + other.effective,
  };
}
