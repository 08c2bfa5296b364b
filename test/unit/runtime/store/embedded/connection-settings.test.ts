import { describe, expect, it } from "vitest";
import { splitSettings } from "../../../../../runtime/store/embedded/connection-settings.ts";

describe("a request's settings", () => {
  it("become arguments of the connection for known names with known values, and statements otherwise", () => {
    const settings = new Map([
      ["async_insert", "0"],
      ["date_time_input_format", "best_effort"],
      ["insert_deduplicate", "yes"],
      ["insert_deduplication_token", "run-1"],
      ["constructor", "1"],
    ]);
    expect(splitSettings(settings)).toEqual({
      ofConnection: { async_insert: "0", date_time_input_format: "best_effort" },
      others: new Map([
        ["insert_deduplicate", "yes"],
        ["insert_deduplication_token", "run-1"],
        ["constructor", "1"],
      ]),
    });
  });
});
