/** How a column of a line is written where a format does not have its kind. */
export type ColumnKind = "text" | "time" | "number" | "labels";

/** A column of an exported line. */
export interface LineColumn {
  readonly name: string;
  /** Of a row of `charges`, in ClickHouse's SQL. */
  readonly sql: string;
  readonly kind: ColumnKind;
}

const text = (name: string, sql = name): LineColumn => ({ name, sql, kind: "text" });
const number = (name: string, sql = name): LineColumn => ({ name, sql, kind: "number" });
const time = (name: string, sql = name): LineColumn => ({ name, sql, kind: "time" });

/**
 * Every column of a line, in the order in which lines are exported. Amounts are exact: GPU-hours, money in the currency (null where
 * nothing prices the line), millijoules at the GPU, grams of CO₂e.
 */
export const LINE_COLUMNS: readonly LineColumn[] = [
  text("policy"),
  text("billingPeriod", "formatDateTime(billing_period, '%Y-%m')"),
  text("corrects"),
  time("from", "from_at"),
  time("until", "until_at"),
  text("cluster"),
  text("node"),
  number("gpu", "slot"),
  text("gpuModel", "gpu_model"),
  text("instanceType", "instance_type"),
  text("region"),
  text("zone"),
  text("pool"),
  text("capacityType", "capacity_type"),
  text("state"),
  text("because"),
  text("payer"),
  text("team"),
  text("costCenter", "cost_center"),
  text("project"),
  text("environment"),
  text("holder"),
  text("namespace"),
  text("pod"),
  text("workloadKind", "workload_kind"),
  text("workload"),
  text("type", "workload_type"),
  text("queue"),
  text("priorityClass", "priority_class"),
  { name: "labels", sql: "labels", kind: "labels" },
  text("attribution"),
  text("rawShare", "raw_share"),
  text("share"),
  text("shareMillis", "share_millis"),
  number("gpuHours", "gpu_hours"),
  number("list", "list_cost"),
  number("contracted", "contracted_cost"),
  number("cost", "effective_cost"),
  number("power", "power_cost"),
  number("millijoules", "energy_mj"),
  number("carbonGrams", "carbon_grams"),
  text("price"),
  time("pricedSince", "priced_since"),
  text("teamRule", "team_rule"),
  text("costCenterRule", "cost_center_rule"),
  text("projectRule", "project_rule"),
  text("environmentRule", "environment_rule"),
];

/** What a spreadsheet would take for a formula, as `reports/format/csv.ts` says it. */
const FORMULA = "^[=+\\\\-@\\\\t\\\\r]";

/** A column as a text or a number: times in ISO 8601, labels as a JSON object. `isForSpreadsheet` puts an apostrophe before formulas. */
export function plainSql({ sql, kind }: LineColumn, isForSpreadsheet: boolean): string {
  switch (kind) {
    case "time":
      return `concat(replaceOne(toString(${sql}, 'UTC'), ' ', 'T'), 'Z')`;
    case "labels":
      return isForSpreadsheet ? `toJSONString(${sql})` : sql;
    case "text":
      return isForSpreadsheet ? `if(match(toString(${sql}), '${FORMULA}'), concat('''', ${sql}), ${sql})` : sql;
    case "number":
      return sql;
  }
}
