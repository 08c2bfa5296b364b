import { describe, expect, it } from "vitest";
import { readScenario } from "../../../scenarios/read.ts";
import { problemsOf } from "../../support/scenario-problems.ts";

const WHOLE = `
title: A job on half of a node
period: { start: 2026-03-01, end: 2026-03-01T02:00:00Z }
nodes:
  - { name: gpu-a, model: NVIDIA-L4, gpus: 2 }
pods:
  - { name: train-0, namespace: vision, node: gpu-a, holds: { gpus: 1 }, devices: [0], activity: 0.5 }
prices:
  - { match: { model: NVIDIA-L4 }, from: 2026-01-01, per: gpu-hour, effective: "1.00" }
`;

describe("a scenario", () => {
  it("is read with the defaults of all missing keys", () => {
    const { period, nodes, pods, owners, currency, scrapeInterval, policies } = readScenario(WHOLE, "case.yaml");
    expect(period).toEqual({ start: Date.UTC(2026, 2, 1), end: Date.UTC(2026, 2, 1, 2) });
    expect({ currency, scrapeInterval, policies }).toEqual({ currency: "USD", scrapeInterval: 30_000, policies: [] });
    expect(nodes[0]).toMatchObject({
      cluster: "default",
      capacityType: "on-demand",
      sharing: { strategy: "none", replicas: 1 },
      unavailable: [],
    });
    expect(pods[0]).toMatchObject({
      holds: { gpus: 1 },
      phase: "Succeeded",
      evidence: "label",
      processActivity: false,
    });
    expect(owners.team).toEqual([{ podLabel: "team" }, { ownerLabel: "team" }, { namespaceLabel: "team" }]);
  });

  it("has each kind of holding, of dated namespaces and of MIG layouts", () => {
    const text = `
title: Ways
period: { start: 2026-03-01T00:00:00Z, end: 2026-03-02T00:00:00Z }
nodes:
  - { name: mig, model: NVIDIA-A100-SXM4-40GB, gpus: 1, mig: { 0: [3g.20gb, 4g.20gb] } }
  - { name: later, model: NVIDIA-A100-SXM4-40GB, gpus: 1, mig: [{ from: 2026-03-01T06:00:00Z, layout: { 0: [7g.40gb] } }] }
  - { name: slices, model: Tesla-T4, gpus: 1, sharing: { strategy: time-slicing, replicas: 4 } }
namespaces:
  lab: [{ labels: { team: nlp } }, { from: 2026-03-01T12:00:00Z, labels: { team: speech } }]
pods:
  - { name: a, namespace: lab, node: mig, holds: { mig: 3g.20gb }, devices: [{ gpu: 0, instance: 1 }] }
  - { name: b, namespace: lab, node: slices, holds: { replicas: 2 } }
  - { name: c, namespace: lab, node: mig, holds: { fraction: 0.5 }, group: g }
  - { name: d, namespace: lab, node: mig, holds: { hami: { memoryMiB: 1024, cores: 30 } } }
  - { name: e, namespace: lab, node: mig, holds: { dra: { claim: one } } }
  - { name: f, namespace: lab, holds: { gpus: 1 }, scheduled: null }
claims: { one: { node: mig, devices: [0], reservedFor: [e] } }
`;
    const scenario = readScenario(text, "ways.yaml");
    expect(scenario.pods.map(({ holds }) => Object.keys(holds)[0])).toEqual([
      "mig",
      "replicas",
      "fraction",
      "hami",
      "dra",
      "gpus",
    ]);
    expect(scenario.namespaces["lab"]).toHaveLength(2);
    expect(scenario.pods[5]).toMatchObject({ scheduled: null });
  });
});

describe("the problem of a scenario", () => {
  it("is reported with its key, its line, the value and the allowed values, together with all others", () => {
    const text = WHOLE.replace("end: 2026-03-01T02:00:00Z", "end: yesterday")
      .replace("gpus: 2 }", "gpus: -1 }")
      .replace("holds: { gpus: 1 }", "holds: everything");
    expect(problemsOf(text)).toEqual([
      'period.end (line 3): "yesterday" is not a time in UTC from 1970 to 2261, such as 2026-03-01T12:30:00Z, or a date',
      "nodes[0].gpus (line 5): -1 is not a whole number, at least 0",
      expect.stringMatching(/^pods\[0\]\.holds \(line 7\): "everything" is not one of \{ gpus \}/),
    ]);
  });

  it.each([
    ["an unknown key", "title: A job", "titel: A job", /^titel \(line 2\): no such key/],
    [
      "a period that ends before it begins",
      "end: 2026-03-01T02:00:00Z",
      "end: 2026-02-01",
      /^period\.end .* after period\.start/,
    ],
    ["an unknown node", "node: gpu-a", "node: gpu-b", /^pods\[0\]\.node \(line 7\): "gpu-b" is not the name of a node/],
    [
      "a GPU that the node does not have",
      "devices: [0]",
      "devices: [2]",
      /^pods\[0\]\.devices\[0\].* a GPU of gpu-a, which has 2$/,
    ],
    [
      "an unknown claim",
      "holds: { gpus: 1 }",
      "holds: { dra: { claim: x } }",
      /^pods\[0\]\.holds\.dra\.claim .*the name of a claim/,
    ],
    ["a scrape interval of 0", "title:", "scrapeInterval: 0s\ntitle:", /^scrapeInterval .* a duration/],
  ])("can be %s", (_, from, to, problem) => {
    expect(problemsOf(WHOLE.replace(from, to)).filter((line) => problem.test(line))).toHaveLength(1);
  });

  it("can be a policy: two billing ones, an idle holder by usage, an expectation of an unknown policy", () => {
    const policies = (lines: string): string => `${WHOLE}policies:\n${lines}`;
    expect(problemsOf(policies("  - { name: a, billing: true }\n  - { name: b, billing: true }\n"))[0]).toContain(
      "policies with exactly one billing policy",
    );
    expect(problemsOf(policies("  - { name: a, basis: usage, payers: { idle: holder } }\n"))[0]).toContain(
      "platform, or no value",
    );
    expect(problemsOf(`${WHOLE}expect: { other: { total: "1" } }\n`)[0]).toContain("one of the policies: default");
  });

  it("can be that the text is not YAML", () => {
    expect(problemsOf("title: [\n")[0]).toMatch(/^\(YAML\) \(line \d\):/);
  });
});
