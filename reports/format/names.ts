/** The formats of sums, with the names of `--format`. */
export const SUM_FORMATS = ["table", "json", "ndjson", "csv", "parquet", "html", "pdf"] as const;

/** See {@link SUM_FORMATS}. */
export type SumFormat = (typeof SUM_FORMATS)[number];

/** The formats of exported lines. */
export const LINE_FORMATS = ["csv", "ndjson", "parquet"] as const;

/** See {@link LINE_FORMATS}. */
export type LineFormat = (typeof LINE_FORMATS)[number];

/** The formats of the cost of inference. */
export const SERVING_FORMATS = ["table", "json", "ndjson", "csv"] as const;

/** See {@link SERVING_FORMATS}. */
export type ServingFormat = (typeof SERVING_FORMATS)[number];

/** The formats of FOCUS's rows, with the names of `--format`. Each row is a sum of lines. */
export const FOCUS_FORMATS: Readonly<Record<string, "csv" | "parquet">> = { focus: "csv", "focus-parquet": "parquet" };

/** The datasets of FOCUS beside Cost and Usage, by their names in commands and addresses. */
export const FOCUS_DATASETS = {
  "billing-periods": "BillingPeriod",
  "invoice-details": "InvoiceDetail",
  "contract-commitments": "ContractCommitment",
} as const;

/** See {@link FOCUS_DATASETS}. */
export type FocusDatasetName = keyof typeof FOCUS_DATASETS;

/** The formats in which bills, cards and findings are printed. */
export const PRINT_FORMATS = ["table", "json", "csv"] as const;

/** See {@link PRINT_FORMATS}. */
export type PrintFormat = (typeof PRINT_FORMATS)[number];
