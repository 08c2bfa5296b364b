import { describe, expect, it } from "vitest";
import { expandedPromql, expandedSql, labelValuesOf, type Shown } from "../../support/grafana/expand.ts";

const SHOWN: Shown = {
  chosen: { cluster: ".*", node: ["gpu-1", "a.b"], team: "o'neill" },
  fromMillis: 0,
  untilMillis: 3_600_000,
  stepSeconds: 60,
  scrapeSeconds: 30,
};

describe("a query to Prometheus", () => {
  it.each([
    ['up{cluster=~"$cluster"}', 'up{cluster=~".*"}'],
    ['up{node=~"${node:regex}"}', String.raw`up{node=~"(gpu-1|a\\.b)"}`],
    ["rate(up[$__rate_interval])", "rate(up[120s])"],
    ["max_over_time(up[$__range]) / $__range_s", "max_over_time(up[3600s]) / 3600"],
    ['label_replace(up, "a", "$1", "b", "(.+)")', 'label_replace(up, "a", "$1", "b", "(.+)")'],
    ["avg_over_time(up[$__interval])", "avg_over_time(up[60s])"],
  ])("%s becomes %s", (expr, expanded) => expect(expandedPromql(expr, SHOWN)).toBe(expanded));

  it("is refused with an unknown variable", () => {
    expect(() => expandedPromql("up == $pool", SHOWN)).toThrow("$pool");
  });
});

describe("a query to ClickHouse", () => {
  it.each([
    ["$__timeFilter(from_at)", "from_at >= toDateTime(0) AND from_at <= toDateTime(3600)"],
    ["$__timeInterval(bucket)", "toStartOfInterval(toDateTime(bucket), INTERVAL 60 second)"],
    ["a > $__fromTime AND a < $__toTime - $__interval_s", "a > toDateTime(0) AND a < toDateTime(3600) - 60"],
    ["$__conditionalAll(cluster IN (${cluster:singlequote}), $cluster)", "1=1"],
    ["$__conditionalAll(node IN (${node:singlequote}), $node)", "node IN ('gpu-1','a.b')"],
    ["t = ${team:singlequote}", String.raw`t = 'o\'neill'`],
  ])("%s becomes %s", (sql, expanded) => expect(expandedSql(sql, SHOWN)).toBe(expanded));

  it("is refused with an unknown variable or macro", () => {
    expect(() => expandedSql("${pool:singlequote}", SHOWN)).toThrow("$pool");
    expect(() => expandedSql("$__dateFilter(d)", SHOWN)).toThrow("$__dateFilter");
    expect(() => expandedSql("x = $team", SHOWN)).toThrow("$team");
  });
});

it("a variable of a label is read", () => {
  expect(labelValuesOf('label_values(up{a=~"$a, b"}, node)')).toEqual({ selector: 'up{a=~"$a, b"}', label: "node" });
  expect(() => labelValuesOf("query_result(up)")).toThrow("query_result");
});
