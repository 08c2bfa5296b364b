import type { FileRule, WrittenRow } from "./rule.ts";
import { decimalIn } from "./values.ts";
import { decimalText } from "../../../domain/exact/integer.ts";

const ONE = 10n ** 18n;

/** Columns in which the parts of one origin agree; docs/focus.md says what an origin is. */
const ORIGIN = [
  "BillingPeriodStart",
  "ChargeClass",
  "ChargePeriodStart",
  "ChargePeriodEnd",
  "ResourceId",
  "SkuPriceId",
  "x_PricedSince",
  "RegionId",
  "AvailabilityZone",
  "Tags",
];

/** What FOCUS says of all rows together, and that a file adds up to what the ledger says. */
export const FILE_RULES: readonly FileRule[] = [
  {
    id: "ratios",
    columns: ["AllocatedMethodDetails", ...ORIGIN],
    says: "the ratios of an origin, whose rows stand together, sum to 1",
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
  },
  {
    id: "sums",
    columns: ["ListCost", "ContractedCost", "EffectiveCost", "x_GpuHours", "x_PowerCost", "x_Lines"],
    says: "a column adds up to what a report of the same question says",
    begin: ({ sums }) => {
      const found = new Map(Object.keys(sums).map((column) => [column, 0n]));
      return {
        add(row) {
          for (const [column, sum] of found) found.set(column, sum + (decimalIn(row[column]) ?? 0n));
          return undefined;
        },
        end: () =>
          [...found].flatMap(([column, sum]) =>
            sum === decimalIn(sums[column])
              ? []
              : [{ column, found: `${decimalText(sum, 18)} and not ${sums[column]}` }],
          ),
      };
    },
  },
];

/** The ratio as it is written: as a number of JavaScript it would be rounded. */
function ratioOf(row: WrittenRow): bigint | undefined {
  const ratios = [...(row["AllocatedMethodDetails"] ?? "").matchAll(/"AllocatedRatio"\s*:\s*([\d.]+)/g)];
  return ratios.length === 0 ? undefined : ratios.reduce((sum, [, ratio]) => sum + (decimalIn(ratio) ?? 0n), 0n);
}
