import { describe, expect, it } from "vitest";
import type { Charge } from "../../../../../domain/charge/charge.ts";
import { MOST_MODELS, OTHER_MODELS } from "../../../../../domain/serving/rules.ts";
import type { ServingRule } from "../../../../../domain/serving/split-service.ts";
import { MOST_COUNT } from "../../../../../domain/serving/work.ts";
import { servicesOf } from "../../../../../processors/ledger/serving/services.ts";
import { createServingSplit } from "../../../../../processors/ledger/serving/serving-split.ts";
import type { ServingHourRow } from "../../../../../runtime/store/schema/serving.ts";

const HOUR = 3_600_000;
const RULE: ServingRule = { rule: "time", tokens: { computed: 1, generated: 4 }, mostTenants: 100 };

/** Rows of a workload with one pod, one page and the given series. */
function rowsOf(workload: string, series: readonly Partial<ServingHourRow>[]): readonly ServingHourRow[] {
  const row = {
    hour: 0,
    cluster: "c",
    namespace: "chat",
    workload_kind: "Deployment",
    workload,
    replica: "",
    pod: workload,
    pod_uid: `uid-${workload}`,
    target: `http://${workload}:8000/metrics`,
    exporter: "vllm",
    model: "",
    adapter: "",
    tenant: "",
    scrapes: 240,
    failures: 0,
    served_ms: HOUR,
    loading_ms: 0,
    covered_ms: HOUR,
    idle_ms: 0,
    running_ms: 0,
    waiting_ms: 0,
    resets: 0,
    increases: {},
  };
  return [
    { ...row, kind: "pod", target: "" },
    { ...row, kind: "page" },
    ...series.map((each) => ({ ...row, kind: "engine", ...each })),
  ] as readonly ServingHourRow[];
}

/** A charge of the pod of a workload over one GPU-hour. */
const charge = (workload: string, effective: bigint): Charge =>
  ({
    cluster: "c",
    holder: { namespace: "chat", workloadKind: "Deployment", workload, id: `uid-${workload}` },
    payer: "holder",
    state: "active",
    team: "chat",
    costCenter: "",
    project: "",
    environment: "",
    gpuModel: "H100",
    gpuHours: 1_000_000_000n,
    costs: { list: effective, contracted: effective, effective },
  }) as unknown as Charge;

describe("a service with many models", () => {
  const flood = Array.from({ length: MOST_MODELS + 44 }, (_, index) => ({
    model: `m${index}`,
    increases: { prompt_tokens: 1_000 + index, generation_tokens: 10 },
  }));
  const [service] = servicesOf(rowsOf("llm", flood), new Map());

  it("keeps those with the most tokens, and adds the others into one", () => {
    const { works, replicas } = service!;
    expect(works).toHaveLength(MOST_MODELS + 1);
    // The first 44 models have 1,000 to 1,043 prompt tokens.
    const others = works.find(({ model }) => model === OTHER_MODELS)!.work;
    expect(others).toMatchObject({ computedTokens: 44 * 1_000 + (43 * 44) / 2, generatedTokens: 440 });
    expect(works.map(({ model }) => model)).not.toContain("m43");
    expect(replicas.flatMap(({ targets }) => targets.map(({ models }) => models))).toEqual([works]);
  });

  it("has lines that sum to its charges", async () => {
    const split = createServingSplit("default", [service!], [RULE]);
    split.add([charge("llm", 3_600_000_007n)]);
    const { lines, breaches, unsplit } = await split.end();
    expect([breaches, unsplit]).toEqual([[], []]);
    expect(new Set(lines.map(({ model }) => model)).size).toBe(MOST_MODELS + 1);
  });
});

it("counts of many rows end at a number with which the split can compute", async () => {
  const huge = Array.from({ length: 200 }, (_, index) => ({
    model: "m",
    target: `http://llm:${index}/metrics`,
    increases: { prompt_tokens: MOST_COUNT, prefill_us: MOST_COUNT, decode_us: MOST_COUNT },
  }));
  const gateway = {
    kind: "gateway",
    workload: "",
    model: "m",
    tenant: "t",
    increases: { prompt_tokens: MOST_COUNT, generation_tokens: MOST_COUNT, spend_nanos: MOST_COUNT },
  };
  const services = servicesOf(rowsOf("llm", [...huge, gateway, { ...gateway, target: "http://other" }]), new Map());
  expect(services[0]!.works).toMatchObject([{ work: { computedTokens: MOST_COUNT, prefillMicros: MOST_COUNT } }]);
  const split = createServingSplit("default", services, [RULE, { ...RULE, rule: "weights" }]);
  split.add([charge("llm", 3_600_000_007n)]);
  expect(await split.end()).toMatchObject({ breaches: [], unsplit: [] });
});

it("a service whose counters cannot be used is unmeasured, and the others are split", async () => {
  const [bad, good] = servicesOf(
    [
      ...rowsOf("bad", [{ model: "m", increases: { prompt_tokens: 5.5 } }]),
      ...rowsOf("good", [{ model: "m", increases: { prompt_tokens: 5, prefill_us: 1, decode_us: 1 } }]),
    ],
    new Map(),
  );
  const split = createServingSplit("default", [bad!, good!], [RULE]);
  split.add([charge("bad", 100n), charge("good", 100n)]);
  const { lines, breaches, unsplit } = await split.end();
  expect(breaches).toEqual([]);
  expect(unsplit).toMatchObject([
    { service: { namespace: "chat", workload: "bad" }, error: expect.any(RangeError) as Error },
  ]);
  expect(lines.map(({ workload, phase, amounts }) => [workload, phase, amounts.effective])).toEqual([
    ["bad", "unmeasured", 100n],
    ["good", "decode", 50n],
    ["good", "prefill", 50n],
  ]);
});

it("gateways in a chain count once, also if a frontend counts the tokens of the engines again", () => {
  const increases = { prompt_tokens: 900, generation_tokens: 100 };
  const gateway = { kind: "gateway", workload: "", model: "m", increases } as const;
  const inner = { ...gateway, exporter: "envoy", tenant: "everybody" };
  const outer = [0.5, 0.5].map((part, index) => ({
    ...gateway,
    exporter: "litellm",
    tenant: `t${index}`,
    increases: { prompt_tokens: 900 * part, generation_tokens: 100 * part },
  }));
  const engine = { model: "m", increases };
  const frontend = { ...engine, kind: "frontend", exporter: "dynamo", workload: "" } as const;
  for (const behind of [[engine], [engine, frontend]]) {
    const [service] = servicesOf(rowsOf("llm", [...behind, inner, ...outer]), new Map());
    expect(service!.tenants.map(({ tenant, promptTokens }) => [tenant, promptTokens])).toEqual([
      ["t0", 450],
      ["t1", 450],
    ]);
  }
});
