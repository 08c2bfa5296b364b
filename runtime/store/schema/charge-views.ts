import { CHARGE_COLUMNS, type ChargeColumn } from "./charges.ts";

const namesOf = (kind: ChargeColumn["sums"]): readonly string[] =>
  CHARGE_COLUMNS.flatMap(({ name, sums }) => (sums === kind ? name : []));

/** The columns that are equal in all charges of a sum; `is_held` is true if the charges have a holder. */
export const SUMS_KEYS: readonly string[] = [...namesOf("key"), "is_held"];

/** The same for sums of workloads. */
export const WORKLOAD_SUMS_KEYS: readonly string[] = [...SUMS_KEYS, ...namesOf("workload")];

/** The columns that sums add up. */
export const SUMMED_COLUMNS = namesOf("amount");

/** The columns of sums that a line has in another form. */
const OF_LINE: Readonly<Record<string, string>> = {
  from_at: "toDateTime64(toStartOfHour(from_at, 'UTC'), 3, 'UTC') AS from_at",
  is_held: "holder != '' AS is_held",
  lines: "toUInt64(1) AS lines",
};

const NOT_REPLACED = "NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods))";

/** Returns a view of charges by the hour: a table of sums, and the lines of runs without sums. A union compares columns by position. */
function summedView(name: string, table: string, keys: readonly string[]): string {
  const columns = [...keys, "lines", ...SUMMED_COLUMNS];
  return `CREATE OR REPLACE VIEW ${name} $ON_CLUSTER AS
SELECT ${columns.join(", ")}
FROM (
  SELECT part_id AS part, ${columns.join(", ")} FROM ${table}
  UNION ALL
  SELECT run_id AS part, ${columns.map((column) => OF_LINE[column] ?? column).join(", ")} FROM charges
)
WHERE part IN (SELECT part FROM charge_parts) AND ${NOT_REPLACED}`;
}

/**
 * The statements that make the views of charges, as templates of migrations. They are run with the newest migration, because a view keeps the
 * columns that it was made with. A changed view therefore needs a new migration.
 */
export const CHARGE_VIEWS: readonly string[] = [
  `CREATE OR REPLACE VIEW charges_published $ON_CLUSTER AS
SELECT * FROM charges WHERE run_id IN (SELECT run_id FROM charge_runs) AND ${NOT_REPLACED}`,
  summedView("charges_summed", "charge_sums", SUMS_KEYS),
  summedView("workload_charges_summed", "charge_workload_sums", WORKLOAD_SUMS_KEYS),
];
