/**
 * The settings of a reader's request. clickhouse-go and Grafana send some with every request; what is not on the list
 * is dropped without a word, as `readonly = 1` would refuse the request for it.
 */

/** How far a reader may go. */
export interface ReaderLimits {
  readonly maxExecutionSeconds: number;
  readonly maxMemoryBytes: number;
  readonly maxResultRows: number;
  readonly maxResultBytes: number;
  readonly maxRowsToRead: number;
  readonly maxThreads: number;
}

const switches = /^(?:0|1|true|false)$/;

/** Settings that change how values look, and what their values may be. */
const allowedValues: Readonly<Record<string, RegExp>> = {
  date_time_output_format: /^(?:simple|iso|unix_timestamp)$/,
  session_timezone: /^[A-Za-z0-9_+/-]{0,64}$/,
  join_use_nulls: switches,
  output_format_json_quote_64bit_integers: switches,
  output_format_json_quote_decimals: switches,
  output_format_json_quote_denormals: switches,
  output_format_json_quote_64bit_floats: switches,
  output_format_json_named_tuples_as_objects: switches,
  output_format_native_encode_types_in_binary_format: switches,
  output_format_native_write_json_as_string: switches,
  output_format_binary_write_json_as_string: switches,
  // Grafana's row limit.
  limit: /^[0-9]{1,9}$/,
  max_block_size: /^[1-9][0-9]{0,5}$/,
};

/** The settings of a reader's connection: ours, the harmless ones that were asked for, and `readonly` for ever. */
export function readerSettings(
  asked: ReadonlyMap<string, string>,
  limits: ReaderLimits,
): Readonly<Record<string, string | number>> {
  const settings: Record<string, string | number> = {
    max_execution_time: lower(asked.get("max_execution_time"), limits.maxExecutionSeconds),
    timeout_before_checking_execution_speed: 0,
    max_memory_usage: limits.maxMemoryBytes,
    max_result_rows: lower(asked.get("max_result_rows"), limits.maxResultRows),
    max_result_bytes: lower(asked.get("max_result_bytes"), limits.maxResultBytes),
    max_rows_to_read: lower(asked.get("max_rows_to_read"), limits.maxRowsToRead),
    max_threads: lower(asked.get("max_threads"), limits.maxThreads),
    result_overflow_mode: "throw",
    read_overflow_mode: "throw",
    timeout_overflow_mode: "throw",
  };
  for (const [name, pattern] of Object.entries(allowedValues)) {
    const value = asked.get(name);
    if (value !== undefined && pattern.test(value)) settings[name] = value;
  }
  settings["readonly"] = 1;
  return settings;
}

/** The asked limit where it is stricter than ours. Zero would mean none. */
function lower(asked: string | undefined, ours: number): number {
  const value = Number(asked);
  return asked !== undefined && Number.isInteger(value) && value > 0 && value < ours ? value : ours;
}
