import type { FileRule, WrittenRow } from "./rule.ts";
import { decimalIn, ONE } from "./values.ts";
import { decimalText } from "../../../domain/exact/integer.ts";

/** Columns that are equal in the parts of one origin. Origins are explained in docs/focus.md. */
const ORIGIN = [
  "BillingPeriodStart",
  "ChargeClass",
  "ChargePeriodStart",
  "ChargePeriodEnd",
  "ResourceId",
  "SkuPriceId",
  "x_PricedSince",
  "x_InvoiceStatus",
  "RegionId",
  "AvailabilityZone",
  "Tags",
];

/** The rule for the ratios of an origin. */
export const RATIOS: FileRule = {
  id: "ratios",
  columns: ["AllocatedMethodDetails", ...ORIGIN],
  text: "the rows of an origin are adjacent, and their ratios sum to 1",
  begin: ({ isWhole }) => {
    const column = "AllocatedMethodDetails";
    let origin: string | undefined;
    let sum = 0n;
    const ended = () => {
      const isRight = origin === undefined || (isWhole ? sum === ONE : sum <= ONE);
      return isRight ? undefined : { column, found: `${decimalText(sum, 18)} for ${origin}` };
    };
    return {
      add(row) {
        const ratio = ratioOf(row);
        const own = ratio === undefined ? undefined : JSON.stringify(ORIGIN.map((name) => row[name] ?? null));
        if (own === origin) {
          sum += ratio ?? 0n;
          return undefined;
        }
        const broken = ended();
        [origin, sum] = [own, ratio ?? 0n];
        return broken;
      },
      end: () => [ended() ?? []].flat(),
    };
  },
};

/** The rule that a file's sums equal the ledger's. */
export const SUMS: FileRule = {
  id: "sums",
  columns: ["BilledCost", "ListCost", "ContractedCost", "EffectiveCost", "x_GpuHours", "x_PowerCost", "x_Lines"],
  text: "the sum of a column equals the sum in a report of the same question",
  begin: ({ sums }) => {
    const found = new Map(Object.keys(sums).map((column) => [column, 0n]));
    return {
      add(row) {
        for (const [column, sum] of found) found.set(column, sum + (decimalIn(row[column]) ?? 0n));
        return undefined;
      },
      end: () =>
        [...found].flatMap(([column, sum]) =>
          sum === decimalIn(sums[column]) ? [] : [{ column, found: `${decimalText(sum, 18)} and not ${sums[column]}` }],
        ),
    };
  },
};

/** Returns the rule that no two rows have the same values in some columns. The values of all rows are kept. */
export function uniqueBy(columns: readonly [string, ...string[]]): FileRule {
  return {
    id: "unique",
    isOfRow: true,
    columns,
    text: `no two rows have the same ${columns.join(", ")}`,
    begin: () => {
      const seen = new Set<string>();
      return {
        add(row) {
          const key = JSON.stringify(columns.map((name) => row[name]));
          const isNew = !seen.has(key);
          seen.add(key);
          return isNew ? undefined : { column: columns[0], found: row[columns[0]] ?? null };
        },
        end: () => [],
      };
    },
  };
}

/** Returns the written ratio. A JavaScript number would round it. */
function ratioOf(row: WrittenRow): bigint | undefined {
  const ratios = [...(row["AllocatedMethodDetails"] ?? "").matchAll(/"AllocatedRatio"\s*:\s*([\d.]+)/g)];
  return ratios.length === 0 ? undefined : ratios.reduce((sum, [, ratio]) => sum + (decimalIn(ratio) ?? 0n), 0n);
}
