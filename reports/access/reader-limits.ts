import { QUERY_LIMITS } from "./query-limits.ts";

const GIBIBYTE = 1024 ** 3;

/** A setting of a reader's queries: its value, and the range in which a query may change it. */
export interface ReaderSetting {
  readonly name: string;
  readonly value: number | string;
  /** True if a query may lower the value. 0 is not allowed because it means no limit. If absent, the value is fixed. */
  readonly mayBeLowered?: true;
}

/**
 * The limits of a query. `readonly` is 2: Grafana's data source sends settings with every query, and 1 would refuse them all
 * (https://clickhouse.com/docs/operations/settings/permissions-for-queries).
 */
export const READER_SETTINGS: readonly ReaderSetting[] = [
  ...Object.entries(QUERY_LIMITS).map(([name, value]) => ({ name, value, mayBeLowered: true }) as const),
  { name: "max_result_bytes", value: GIBIBYTE / 4, mayBeLowered: true },
  { name: "max_concurrent_queries_for_user", value: 8 },
  { name: "max_memory_usage_for_user", value: 8 * GIBIBYTE },
  { name: "max_temporary_data_on_disk_size_for_user", value: 16 * GIBIBYTE },
  { name: "read_overflow_mode", value: "throw" },
  { name: "result_overflow_mode", value: "throw" },
  { name: "timeout_overflow_mode", value: "throw" },
  { name: "allow_ddl", value: 0 },
  { name: "allow_introspection_functions", value: 0 },
  { name: "readonly", value: 2 },
];

/** The limits of all queries of a reader in an hour. They stop a program that runs wild, but not dashboards. */
export const READER_QUOTA: Readonly<Record<string, number>> = {
  queries: 100_000,
  read_rows: 2_000_000_000_000,
  execution_time: 36_000,
};
