import type { FocusVersion } from "../../../domain/focus-version.ts";
import { optional, type KnownColumns } from "./column.ts";
import { columnRules } from "./column-rules.ts";
import { CONTRACT_COLUMNS, CONTRACT_RULES } from "./contract-rules.ts";
import { COST_COLUMNS } from "./cost-columns.ts";
import { COST_RULES, COST_RULES_1_4 } from "./cost-rules.ts";
import { RATIOS, SUMS, uniqueBy } from "./file-rules.ts";
import { DETAIL_COLUMNS, DETAIL_RULES, PERIOD_COLUMNS, PERIOD_RULES } from "./invoice-rules.ts";
import type { FileRule, RowRule } from "./rule.ts";

/** The datasets that files have, with the names of FOCUS. */
export type DatasetName = "CostAndUsage" | "BillingPeriod" | "InvoiceDetail" | "ContractCommitment";

/** A dataset in a version of FOCUS: its columns and its rules. */
export interface Dataset {
  readonly name: DatasetName;
  readonly version: FocusVersion;
  readonly columns: KnownColumns;
  /** True if FOCUS's columns, and then the others, are in alphabetical order. */
  readonly isSorted: boolean;
  readonly rowRules: readonly RowRule[];
  readonly fileRules: readonly FileRule[];
  /** The columns that name a row for people. */
  readonly key: readonly string[];
}

function costAndUsage(version: FocusVersion): Dataset {
  const columns = COST_COLUMNS[version];
  return {
    name: "CostAndUsage",
    version,
    columns,
    isSorted: version === "1.4",
    rowRules: [...columnRules(columns), ...COST_RULES, ...(version === "1.4" ? COST_RULES_1_4 : [])],
    fileRules: [RATIOS, SUMS],
    key: ["ChargePeriodStart", "ResourceId", "AllocatedResourceName", "x_State"],
  };
}

function since14(
  name: DatasetName,
  columns: KnownColumns,
  rules: readonly RowRule[],
  key: readonly [string, ...string[]],
): Dataset {
  return {
    name,
    version: "1.4",
    columns,
    isSorted: true,
    rowRules: [...columnRules(columns), ...rules],
    fileRules: [SUMS, uniqueBy(key)],
    key,
  };
}

/** Cost and Usage in each version. */
export const COST_AND_USAGE: Readonly<Record<FocusVersion, Dataset>> = {
  "1.3": costAndUsage("1.3"),
  "1.4": costAndUsage("1.4"),
};

/** Cost and Usage of 1.4 with the column that 1.5 has merged. */
const DRAFT: Dataset = { ...COST_AND_USAGE["1.4"], columns: { ...COST_COLUMNS["1.4"], PrincipalId: optional() } };

/** Returns Cost and Usage in the version of a file. */
export function datasetOf({ version, draft }: { readonly version: FocusVersion; readonly draft?: string }): Dataset {
  return draft === undefined ? COST_AND_USAGE[version] : DRAFT;
}

/** The datasets that 1.4 adds beside Cost and Usage. 1.3 has a smaller Contract Commitment, which no file has. */
export const REFERENCE_DATASETS: Readonly<Record<Exclude<DatasetName, "CostAndUsage">, Dataset>> = {
  BillingPeriod: since14("BillingPeriod", PERIOD_COLUMNS, PERIOD_RULES, ["BillingPeriodStart", "InvoiceIssuerName"]),
  InvoiceDetail: since14("InvoiceDetail", DETAIL_COLUMNS, DETAIL_RULES, [
    "InvoiceDetailId",
    "InvoiceId",
    "InvoiceIssuerName",
  ]),
  ContractCommitment: since14("ContractCommitment", CONTRACT_COLUMNS, CONTRACT_RULES, ["ContractCommitmentId"]),
};
