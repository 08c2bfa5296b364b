import { describe, expect, it } from "vitest";

import { renderTemplate } from "../../../../runtime/store/migration-template.ts";

const single = { database: "ledger", retentionDays: { raw: 40, charges: 0 } };
const clustered = { ...single, cluster: "main" };
const replica = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'";

describe("the placeholders of a migration", () => {
  it("vanish or become plain on a single server", () => {
    expect(renderTemplate("CREATE TABLE $DATABASE.t $ON_CLUSTER (a Int8) ENGINE = $ENGINE(MergeTree)", single)).toBe(
      "CREATE TABLE `ledger`.t  (a Int8) ENGINE = MergeTree",
    );
    expect(renderTemplate("ENGINE = $ENGINE(ReplacingMergeTree, version, is_deleted)", single)).toBe(
      "ENGINE = ReplacingMergeTree(version, is_deleted)",
    );
  });

  it("replicate on a cluster", () => {
    expect(renderTemplate("DROP TABLE IF EXISTS t $ON_CLUSTER", clustered)).toBe(
      "DROP TABLE IF EXISTS t ON CLUSTER `main`",
    );
    expect(renderTemplate("ENGINE = $ENGINE(MergeTree)", clustered)).toBe(`ENGINE = ReplicatedMergeTree(${replica})`);
    expect(renderTemplate("ENGINE = $ENGINE(SummingMergeTree, (a, b))", clustered)).toBe(
      `ENGINE = ReplicatedSummingMergeTree(${replica}, (a, b))`,
    );
  });

  it("keep rows for the configured days, and forever if the days are 0", () => {
    expect(renderTemplate("$TTL(raw, toDateTime(least(a, b))) SETTINGS x = 1", single)).toBe(
      "TTL toDateTime(least(a, b)) + INTERVAL 40 DAY SETTINGS x = 1",
    );
    expect(renderTemplate("ORDER BY a $TTL(charges, day)", single)).toBe("ORDER BY a ");
  });

  it("quote names, so that a database's name cannot become SQL", () => {
    expect(renderTemplate("$DATABASE", { ...single, database: "a`; DROP" })).toBe("`a\\`; DROP`");
  });

  it("are refused if they are unknown, incomplete or out of range", () => {
    expect(() => renderTemplate("$CLUSTER", single)).toThrow(/\$CLUSTER is not a placeholder/);
    expect(() => renderTemplate("$ENGINE MergeTree", single)).toThrow(/needs its arguments/);
    expect(() => renderTemplate("$ENGINE(Memory)", single)).toThrow(/MergeTree family/);
    expect(() => renderTemplate("$TTL(hours, day)", single)).toThrow(
      /is not a retention; the retentions are raw, charges/,
    );
    expect(() => renderTemplate("$TTL(raw)", single)).toThrow(/a retention's name and a time/);
    expect(() => renderTemplate("$TTL(raw, day)", { ...single, retentionDays: { raw: 0.5 } })).toThrow(/whole days/);
  });
});
