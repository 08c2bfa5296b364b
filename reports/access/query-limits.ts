const GIBIBYTE = 1024 ** 3;

/** The limits of one query of a person or a program: seconds, bytes, rows read, rows returned, and threads. */
export const QUERY_LIMITS = {
  max_execution_time: 60,
  max_memory_usage: 4 * GIBIBYTE,
  max_rows_to_read: 5_000_000_000,
  max_result_rows: 2_000_000,
  max_threads: 4,
} as const;
