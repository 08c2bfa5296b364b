import { describe, expect, it } from "vitest";
import { problemsOf } from "../../support/scenario-problems.ts";

const NODE = "{ name: n, model: NVIDIA-A100-SXM4-40GB, gpus: 2 }";
const POD = "{ name: a, namespace: x, node: n, holds: { gpus: 1 }, devices: [0], activity: 0.5 }";

/** A scenario of one node for an hour, with one part of it changed. */
function scenario(given: { node?: string; pods?: string; prices?: string; more?: string; period?: string }): string {
  const period = given.period ?? "{ start: 2026-03-02T00:00:00Z, end: 2026-03-02T01:00:00Z }";
  return `title: t
period: ${period}
nodes: [${given.node ?? NODE}]
pods: [${given.pods ?? POD}]
prices: [${given.prices ?? '{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.60" }'}]
${given.more ?? ""}`;
}

const nodeWith = (more: string): string => NODE.replace(" }", `, ${more} }`);
const podWith = (more: string): string => POD.replace("activity: 0.5", more);

describe("a scenario is refused, with the key and its line,", () => {
  it.each([
    [
      "a device twice",
      { pods: podWith("").replace("[0]", "[0, 0]") },
      "pods[0].devices[1] (line 4)",
      "not already in the list",
    ],
    ["a device beyond the node", { pods: POD.replace("[0]", "[2]") }, "pods[0].devices[0] (line 4)", "which has 2"],
    [
      "an instance that no layout has",
      { node: nodeWith("mig: { 0: [3g.20gb] }"), pods: POD.replace("[0]", "[{ gpu: 0, instance: 1 }]") },
      "pods[0].devices[0] (line 4)",
      "which has 1",
    ],
    [
      "a profile that the model lacks",
      { node: nodeWith("mig: { 0: [9g.99gb] }") },
      "nodes[0].mig.0[0] (line 3)",
      "1g.5gb",
    ],
    [
      "a layout that does not fit",
      { node: nodeWith("mig: { 0: [7g.40gb, 7g.40gb] }") },
      "nodes[0].mig.0 (line 3)",
      "14 and 16",
    ],
    [
      "a layout of a missing GPU",
      { node: nodeWith("mig: { 4: [7g.40gb] }") },
      "nodes[0].mig.4 (line 3)",
      "which has 2",
    ],
    [
      "layouts out of order",
      { node: nodeWith("mig: [{ from: 2026-03-02T00:30:00Z, layout: {} }, { from: 2026-03-02, layout: {} }]") },
      "nodes[0].mig[1].from (line 3)",
      "after the one before",
    ],
    [
      "fewer delivered GPUs than there are",
      { node: nodeWith("delivered: 1") },
      "nodes[0].delivered (line 3)",
      "at least",
    ],
    [
      "a price entry by which fewer GPUs were delivered than there are",
      { prices: '{ match: { model: A100-40GB }, from: 2026-01-01, per: node-hour, effective: "8", delivered: 1 }' },
      "prices[0].delivered (line 5)",
      "of the node n, 2",
    ],
    [
      "a node that ends before it begins",
      { node: nodeWith("from: 2026-03-03, until: 2026-03-02") },
      "nodes[0].until (line 3)",
      "after from",
    ],
    [
      "a gap of a missing GPU",
      { node: nodeWith("telemetryGaps: [{ gpus: [7] }]") },
      "nodes[0].telemetryGaps[0].gpus[0] (line 3)",
      "which has 2",
    ],
    [
      "a pod that is scheduled after its end",
      { pods: podWith("scheduled: 2026-03-02T00:40:00Z, finished: 2026-03-02T00:20:00Z") },
      "pods[0].finished (line 4)",
      "not before scheduled",
    ],
    [
      "activity that ends before it begins",
      { pods: podWith("activity: [{ from: 2026-03-02T00:40:00Z, until: 2026-03-02T00:20:00Z, ratio: 1 }]") },
      "pods[0].activity[0].until (line 4)",
      "after from",
    ],
    ["more than all cores", { pods: POD.replace("gpus: 1 }", "hami: { cores: 150 } }") }, "pods[0].holds", "hami"],
    [
      "a gang of two sizes",
      {
        pods: `${podWith("gang: { group: g, size: 2 }")}, ${podWith("gang: { group: g, size: 3 }").replace("name: a", "name: b")}`,
      },
      "pods[1].gang.size (line 4)",
      "the size of the other pods",
    ],
    [
      "a claim of an unknown pod",
      { more: "claims: { c: { node: n, devices: [0], reservedFor: [zz] } }" },
      "claims.c.reservedFor[0] (line 6)",
      "the name of a pod",
    ],
    [
      "a claim on an unknown node",
      { more: "claims: { c: { node: m, devices: [0], reservedFor: [a] } }" },
      "claims.c.node (line 6)",
      "the name of a node",
    ],
    ["a date that does not exist", { node: nodeWith("from: 2026-02-29") }, "nodes[0].from (line 3)", "a time in UTC"],
    [
      "a year that the store cannot hold",
      { period: "{ start: 2026-03-02, end: 2300-02-08 }" },
      "period.end (line 2)",
      "from 1970 to 2261",
    ],
    [
      "a price beyond all sums",
      { more: `fixed: [{ from: 2026-01-01, per: hour, amount: "1${"0".repeat(60)}" }]` },
      "fixed[0].amount (line 6)",
      "at most 1000000000000",
    ],
    [
      "a late pod on no node",
      { more: `events: [{ at: 2026-04-10, arrives: { pods: [${POD.replace("node: n", "node: m")}] } }]` },
      "events[0].arrives.pods[0].node (line 6)",
      "the name of a node",
    ],
  ])("for %s", (_, given, key, allowed) => {
    const problems = problemsOf(scenario(given));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(key);
    expect(problems[0]).toContain(allowed);
  });

  it("if aliases contain themselves, or grow without limit", () => {
    expect(problemsOf("&a\ntitle: t\nx: *a")).toEqual(["(YAML): an anchor must not hold an alias of itself"]);
    const grown = Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(",")}]`);
    expect(problemsOf(["a0: &a0 [x]", ...grown].join("\n"))).toEqual([
      "(YAML): aliases of aliases make the file too large",
    ]);
  });

  it("but not if nothing is wrong", () => {
    expect(problemsOf(scenario({}))).toEqual([]);
    const late = POD.replace("name: a", "name: late");
    const claimed = `claims: { c: { node: n, devices: [0], reservedFor: [late] } }
events: [{ at: 2026-04-10, arrives: { pods: [${late}] } }]`;
    expect(problemsOf(scenario({ more: claimed }))).toEqual([]);
    expect(problemsOf(scenario({ node: nodeWith("mig: { 0: [1g.5gb+me, 2g.10gb, 4g.20gb] }"), pods: "" }))).toEqual([]);
  });
});
