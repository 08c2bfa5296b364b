import { describe, expect, it } from "vitest";
import { expandedPromql, labelValuesOf, type Shown } from "../../support/grafana/expand.ts";

const SHOWN: Shown = {
  chosen: { cluster: ".*", node: ["gpu-1", "a.b"] },
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

  it("has no variable that nobody knows", () => {
    expect(() => expandedPromql("up == $pool", SHOWN)).toThrow("$pool");
  });
});

it("a variable of a label is read", () => {
  expect(labelValuesOf('label_values(up{a=~"$a, b"}, node)')).toEqual({ selector: 'up{a=~"$a, b"}', label: "node" });
  expect(() => labelValuesOf("query_result(up)")).toThrow("query_result");
});
