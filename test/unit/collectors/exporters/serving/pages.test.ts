import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { inspectPage } from "../../../../../collectors/exporters/inspect.ts";
import { inspectServingPage, type ServingInspection } from "../../../../../collectors/exporters/serving/inspect.ts";

const FOLDER = "test/fixtures/pages/serving";

interface Expected {
  readonly exporter: string;
  readonly rows: readonly (readonly [series: object, values: object])[];
  readonly drops?: readonly (readonly [line: number, reason: string])[];
}

const vllm = (model: string, part?: string) => ({
  exporter: "vllm",
  kind: "engine",
  model,
  ...(part === undefined ? {} : { part }),
});
const litellm = (tenant?: string) => ({
  exporter: "litellm",
  kind: "gateway",
  model: "qwen3-32b",
  ...(tenant === undefined ? {} : { tenant }),
});
const triton = (model: string, part: string) => ({ exporter: "triton", kind: "engine", model, part });

/** The rows of each page, with every value. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  "lmdeploy-0.18.prom": {
    exporter: "lmdeploy",
    rows: [
      [
        { exporter: "lmdeploy", kind: "engine", model: "internlm3-8b", part: "0" },
        {
          prompt_tokens: 9000,
          cached_tokens: 1000,
          generation_tokens: 700,
          requests: 23,
          requests_stop: 20,
          requests_abort: 2,
          requests_error: 1,
          requests_other: 0,
          prefill_us: 1_500_000,
          decode_us: 12_250_000,
          running: 3,
          waiting: 0,
          kv_cache_ppm: 500_000,
        },
      ],
    ],
  },
  "llama-cpp.prom": {
    exporter: "llama.cpp",
    rows: [
      [
        { exporter: "llama.cpp", kind: "engine", model: "" },
        {
          computed_prompt_tokens: 6886,
          generation_tokens: 3469,
          prefill_us: 29_500_000,
          decode_us: 354_250_000,
          running: 1,
          waiting: 0,
        },
      ],
    ],
  },
  "nim-1.x.prom": {
    exporter: "nim",
    rows: [
      [
        { exporter: "nim", kind: "engine", model: "meta/llama-3.1-8b" },
        {
          prompt_tokens: 5000,
          generation_tokens: 800,
          requests: 10,
          requests_stop: 9,
          requests_length: 1,
          running: 2,
          waiting: 0,
          kv_cache_ppm: 250_000,
        },
      ],
    ],
  },
  "ray-serve-vllm.prom": {
    exporter: "vllm",
    // Two workers on one page are added here, and are rows of their own in the store.
    rows: [[vllm("qwen3-8b", "0"), { prompt_tokens: 120, generation_tokens: 30 }]],
  },
  "triton-vllm-backend.prom": {
    exporter: "triton",
    rows: [
      [triton("otter", "1"), { inferences: 40, compute_us: 900_000 }],
      [triton("detector", "1"), { requests: 500 }],
      [vllm("otter", "1"), { prompt_tokens: 4000, generation_tokens: 600, requests: 40, requests_stop: 40 }],
    ],
  },
  "vllm-0.6.prom": {
    exporter: "vllm",
    rows: [
      [
        vllm("mistral-7b"),
        {
          prompt_tokens: 812_345,
          generation_tokens: 90_210,
          requests: 320,
          requests_stop: 300,
          requests_length: 20,
          preemptions: 3,
          draft_tokens: 4000,
          accepted_tokens: 2600,
          running: 5,
          waiting: 2,
          kv_cache_ppm: 437_500,
        },
      ],
    ],
  },
  "vllm-0.9.prom": {
    exporter: "vllm",
    rows: [
      [
        vllm("qwen3-8b", "0"),
        {
          prompt_tokens: 30_000,
          generation_tokens: 4096,
          requests: 50,
          requests_stop: 40,
          requests_length: 8,
          requests_abort: 2,
          preemptions: 0,
          queue_us: 30_123.4,
          prefill_us: 8_500_000,
          decode_us: 82_000_000,
          compute_us: 90_500_000,
          running: 1,
          waiting: 0,
          // Of the two names on the page, the newer one counts.
          kv_cache_ppm: 250_976.5625,
          // The oldest of four times.
          created_ms: 1_750_806_000_100,
        },
      ],
    ],
  },
  "vllm-0.33.prom": {
    exporter: "vllm",
    rows: [
      [
        vllm("qwen3-235b", "0"),
        {
          prompt_tokens: 500_000,
          computed_prompt_tokens: 300_000,
          cached_device_tokens: 150_000,
          cached_external_tokens: 50_000,
          generation_tokens: 64_000,
          requests: 126,
          requests_stop: 100,
          requests_length: 20,
          requests_abort: 3,
          requests_error: 2,
          requests_other: 1,
          preemptions: 7,
          drafts: 1500,
          draft_tokens: 6000,
          accepted_tokens: 4100,
          queue_us: 31_500_000,
          prefill_us: 130_250_000,
          decode_us: 800_000_000,
          compute_us: 930_250_000,
          gigaflops: 750_000_000,
          read_megabytes: 2_500_000_000,
          written_megabytes: 32_500_000,
          running: 12,
          waiting: 4,
          kv_cache_ppm: 812_500,
          asleep: 0,
        },
      ],
      [
        vllm("qwen3-235b", "1"),
        {
          prompt_tokens: 0,
          computed_prompt_tokens: 0,
          cached_device_tokens: 0,
          cached_external_tokens: 0,
          generation_tokens: 0,
          preemptions: 0,
          running: 0,
          waiting: 0,
          kv_cache_ppm: 0,
          asleep: 1,
        },
      ],
    ],
  },
  "sglang-0.4.6.prom": {
    exporter: "sglang",
    rows: [
      [
        { exporter: "sglang", kind: "engine", model: "llama-3.1-8b" },
        {
          prompt_tokens: 8128,
          cached_tokens: 900,
          generation_tokens: 7557,
          requests: 64,
          running: 3,
          waiting: 1,
          kv_cache_ppm: 280_000,
        },
      ],
    ],
  },
  // Two data-parallel ranks of two tensor-parallel ranks each. Tokens are counted for the whole engine.
  "sglang-0.5.23.prom": {
    exporter: "sglang",
    rows: [
      [
        { exporter: "sglang", kind: "engine", model: "deepseek-v3", part: "0" },
        {
          computed_prompt_tokens: 110_000,
          recomputed_tokens: 3500,
          preemptions: 2,
          queue_us: 3_500_000,
          gpu_prefill_us: 30_500_000,
          gpu_decode_us: 200_000_000,
          compute_us: 235_500_000,
          idle_us: 12_500_000,
          gigaflops: 4_000_000,
          running: 10,
          waiting: 2,
          kv_cache_ppm: 500_000,
        },
      ],
      [
        { exporter: "sglang", kind: "engine", model: "deepseek-v3", part: "1" },
        {
          computed_prompt_tokens: 75_000,
          recomputed_tokens: 0,
          preemptions: 0,
          queue_us: 1_250_000,
          gpu_prefill_us: 20_250_000,
          gpu_decode_us: 150_500_000,
          compute_us: 170_750_000,
          idle_us: 40_000_000,
          gigaflops: 3_000_000,
          running: 6,
          waiting: 0,
          kv_cache_ppm: 375_000,
        },
      ],
      [
        { exporter: "sglang", kind: "engine", model: "deepseek-v3" },
        {
          prompt_tokens: 260_000,
          cached_device_tokens: 50_000,
          cached_host_tokens: 8000,
          cached_external_tokens: 2000,
          cached_tokens: 700,
          generation_tokens: 75_000,
          requests: 150,
          requests_abort: 4,
        },
      ],
    ],
  },
  "tensorrt-llm-1.0.prom": {
    exporter: "tensorrt-llm",
    rows: [
      [
        { exporter: "tensorrt-llm", kind: "engine", model: "nemotron-49b" },
        { requests: 155, requests_stop: 150, requests_length: 5, queue_us: 2_500_000, kv_cache_ppm: 125_000 },
      ],
    ],
  },
  "tensorrt-llm.prom": {
    exporter: "tensorrt-llm",
    rows: [
      [
        { exporter: "tensorrt-llm", kind: "engine", model: "nemotron-49b" },
        {
          prompt_tokens: 42_000,
          generation_tokens: 9000,
          requests: 155,
          requests_stop: 150,
          requests_length: 5,
          draft_tokens: 600,
          accepted_tokens: 450,
          queue_us: 2_500_000,
          prefill_us: 20_500_000,
          decode_us: 240_000_000,
          compute_us: 260_500_000,
          running: 8,
          waiting: 1,
          kv_cache_ppm: 125_000,
        },
      ],
    ],
  },
  "triton.prom": {
    exporter: "triton",
    rows: [
      [
        triton("resnet", "1"),
        {
          requests: 1008,
          requests_abort: 3,
          requests_error: 5,
          inferences: 8000,
          batches: 1000,
          queue_us: 2_000_000,
          compute_us: 6_500_000,
          waiting: 5,
        },
      ],
      [triton("resnet", "2"), { requests: 20, inferences: 20, batches: 20, queue_us: 10, compute_us: 900, waiting: 0 }],
      [
        triton("bert", "1"),
        {
          requests: 300,
          requests_error: 0,
          inferences: 300,
          batches: 150,
          queue_us: 50_000,
          compute_us: 600_000,
          waiting: 1,
        },
      ],
    ],
  },
  "triton-trtllm.prom": {
    exporter: "triton",
    rows: [
      [triton("ensemble", "1"), { requests: 77 }],
      [triton("tensorrt_llm", "1"), { requests: 77, running: 6, waiting: 2, kv_cache_ppm: 62_500 }],
    ],
  },
  "tgi.prom": {
    exporter: "tgi",
    rows: [
      [
        { exporter: "tgi", kind: "engine", model: "" },
        {
          prompt_tokens: 250_000,
          generation_tokens: 61_000,
          requests: 508,
          requests_error: 8,
          queue_us: 14_125_000,
          gpu_prefill_us: 40_500_000,
          gpu_decode_us: 300_250_000,
          compute_us: 812_500_000,
          running: 12,
          waiting: 3,
        },
      ],
    ],
  },
  "dynamo-frontend.prom": {
    exporter: "dynamo",
    rows: [
      [
        { exporter: "dynamo", kind: "frontend", model: "qwen3-32b" },
        {
          prompt_tokens: 48_000,
          cached_tokens: 12_000,
          generation_tokens: 9900,
          requests: 100,
          requests_error: 5,
          running: 6,
          waiting: 2,
        },
      ],
    ],
  },
  "dynamo-worker-vllm.prom": {
    exporter: "vllm",
    rows: [[vllm("qwen3-32b", "0"), { prompt_tokens: 48_000, generation_tokens: 9900, running: 4 }]],
  },
  "kserve.prom": {
    exporter: "kserve",
    rows: [
      [
        { exporter: "kserve", kind: "engine", model: "iris-net" },
        { requests: 900, compute_us: 42_250_000 },
      ],
    ],
  },
  "litellm-1.60.prom": {
    exporter: "litellm",
    rows: [
      [litellm("vision"), { prompt_tokens: 40_000, generation_tokens: 5000, requests: 100, spend_nanos: 312_500_000 }],
      [litellm("nlp"), { prompt_tokens: 5000, generation_tokens: 700, requests: 7, spend_nanos: 31_250_000 }],
    ],
  },
  // One key is named like an e-mail address, and one user has neither a team nor a name. Both have no tenant.
  "litellm-1.110.prom": {
    exporter: "litellm",
    rows: [
      [
        litellm("vision"),
        {
          prompt_tokens: 40_000,
          cached_tokens: 20_000,
          generation_tokens: 5000,
          requests: 103,
          requests_error: 3,
          spend_nanos: 312_500_000,
          created_ms: 1_790_000_000_000,
        },
      ],
      [
        litellm(),
        { prompt_tokens: 5400, cached_tokens: 2700, generation_tokens: 740, requests: 8, spend_nanos: 31_250_000 },
      ],
      [
        litellm("batch-job"),
        { prompt_tokens: 800, cached_tokens: 400, generation_tokens: 90, requests: 2, spend_nanos: 1_953_125 },
      ],
    ],
    drops: [
      [5, "email-tenant"],
      [15, "email-tenant"],
      [35, "email-tenant"],
      [45, "email-tenant"],
      [55, "email-tenant"],
    ],
  },
  // The type `total` is not added.
  "envoy-ai-gateway.prom": {
    exporter: "gen-ai",
    rows: [
      [
        { exporter: "gen-ai", kind: "gateway", model: "qwen3-32b", tenant: "acme" },
        { prompt_tokens: 7000, cached_tokens: 2000, generation_tokens: 900, requests: 53, requests_error: 3 },
      ],
      [
        { exporter: "gen-ai", kind: "gateway", model: "qwen3-32b", tenant: "zeta" },
        { prompt_tokens: 600, generation_tokens: 80 },
      ],
    ],
  },
  "llm-d.prom": {
    exporter: "llm-d",
    rows: [
      [
        { exporter: "llm-d", kind: "gateway", model: "qwen3-32b", tenant: "acme" },
        { prompt_tokens: 9000, generation_tokens: 1200, requests: 40 },
      ],
      [
        { exporter: "llm-d", kind: "gateway", model: "qwen3-32b", tenant: "nightly" },
        { prompt_tokens: 400, generation_tokens: 60, requests: 3 },
      ],
    ],
  },
};

const pageOf = (file: string): Buffer => readFileSync(`${FOLDER}/${file}`);

function inspected(file: string): ServingInspection {
  const inspection = inspectServingPage(pageOf(file));
  if ("reason" in inspection) throw new Error(inspection.detail);
  return inspection;
}

/** Returns the values of rows by their series, with the buckets of a row added. */
function withoutBuckets(rows: ServingInspection["rows"]): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const sums = new Map<string, Record<string, number>>();
  for (const { series, values } of rows) {
    const { part = "", ...of } = series;
    const whole = part.replace(/\/?#\d+$/, "");
    const key = JSON.stringify(whole === "" ? of : { ...of, part: whole });
    const sum = sums.get(key) ?? {};
    sums.set(key, sum);
    for (const [name, value] of Object.entries(values))
      sum[name] = name === "created_ms" ? Math.min(sum[name] ?? Infinity, value) : (sum[name] ?? 0) + value;
  }
  return sums;
}

describe("pages of engines and gateways", () => {
  it("have an expectation for each file", () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(Object.keys(EXPECTED).toSorted());
  });

  it.each(Object.keys(EXPECTED))("%s has its rows with every value", (file) => {
    const { exporter, rows, drops = [] } = EXPECTED[file]!;
    const inspection = inspected(file);
    const close = Object.fromEntries(
      rows.map(([series, values]) => [
        JSON.stringify(series),
        Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expect.closeTo(Number(value), 4)])),
      ]),
    );
    expect(inspection.exporter).toBe(exporter);
    const whole = withoutBuckets(inspection.rows);
    expect([...whole.keys()]).toEqual(rows.map(([series]) => JSON.stringify(series)));
    expect(Object.fromEntries(whole)).toEqual(close);
    expect(inspection.drops.map(({ line, reason }) => [line, reason])).toEqual(drops);
  });

  it.each(Object.keys(EXPECTED))("every sample of %s is explained", (file) => {
    const { samples, used, unused } = inspected(file);
    const lines = [...used, ...unused].map(({ line }) => line);
    expect(new Set(lines).size).toBe(samples);
    expect(lines).toHaveLength(samples);
    for (const { why } of unused) expect(why).not.toBe("");
  });

  it.each(Object.keys(EXPECTED))("%s is no page of a GPU exporter", (file) => {
    expect(inspectPage(pageOf(file))).toMatchObject({ reason: "foreign-page" });
  });

  it("names the reason for series that look useful", () => {
    const reasons = (file: string): ReadonlyMap<string, string> =>
      new Map(inspected(file).unused.map(({ series, why }) => [series, why]));
    const ofVllm = reasons("vllm-0.9.prom");
    expect(ofVllm.get("vllm:iteration_tokens_total_sum")).toContain("histogram");
    expect(ofVllm.get("vllm:time_per_output_token_seconds_sum")).toContain("sum of means");
    expect(ofVllm.get("vllm:prefix_cache_hits_total")).toContain("at every step");
    expect(ofVllm.get("vllm:gpu_cache_usage_perc")).toContain("newer name");
    expect(ofVllm.get("vllm:request_queue_time_seconds_bucket")).toContain("bucket");
    const ofSglang = inspected("sglang-0.5.23.prom").unused;
    const isRepeat = ({ series, why }: { series: string; why: string }): boolean =>
      series === "sglang:token_usage" && why === "it repeats the work of a lower rank";
    expect(ofSglang.filter(isRepeat)).toHaveLength(2);
    expect(reasons("litellm-1.110.prom").get("litellm_total_tokens_metric_total")).toContain("sum of other series");
    expect(reasons("vllm-0.6.prom").get("python_info")).toContain("no engine and no gateway");
  });
});
