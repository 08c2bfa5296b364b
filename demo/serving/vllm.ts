import { stateOf, type Engine, type EngineState } from "./engine.ts";
import { familiesPage, type Family } from "./family.ts";

/** Returns the page of an engine at a time in the life of its pod, with names of vLLM 0.33. */
export function vllmPage(engine: Engine, timeMillis: number): Buffer {
  const state = stateOf(engine, timeMillis);
  return familiesPage(familiesOf(`engine="0",model_name="${engine.model.name}"`, state), state.startMillis);
}

function familiesOf(labels: string, state: EngineState): readonly Family[] {
  const { promptTokens, cachedTokens, generatedTokens, requests, seconds, isAsleep } = state;
  const all = `{${labels}}`;
  const by = (more: string): string => `{${labels},${more}}`;
  const finished = requests.stop + requests.length + requests.abort;
  const histogram = (name: string, count: number, sum: number): Family => [
    name,
    "histogram",
    [
      [`_bucket${by('le="+Inf"')}`, count],
      [`_count${all}`, count],
      [`_sum${all}`, sum],
    ],
  ];
  return [
    ["vllm:num_requests_running", "gauge", [[all, state.running]]],
    ["vllm:num_requests_waiting", "gauge", [[all, state.waiting]]],
    [
      "vllm:engine_sleep_state",
      "gauge",
      [
        [by('sleep_state="awake"'), isAsleep ? 0 : 1],
        [by('sleep_state="weights_offloaded"'), 0],
        [by('sleep_state="discard_all"'), isAsleep ? 1 : 0],
      ],
    ],
    ["vllm:kv_cache_usage_perc", "gauge", [[all, state.cache]]],
    ["vllm:prompt_tokens", "counter", [[all, promptTokens]]],
    [
      "vllm:prompt_tokens_by_source",
      "counter",
      [
        [by('source="local_compute"'), promptTokens - cachedTokens],
        [by('source="local_cache_hit"'), cachedTokens],
        [by('source="external_kv_transfer"'), 0],
      ],
    ],
    ["vllm:prompt_tokens_cached", "counter", [[all, cachedTokens]]],
    ["vllm:generation_tokens", "counter", [[all, generatedTokens]]],
    [
      "vllm:request_success",
      "counter",
      [
        [by('finished_reason="stop"'), requests.stop],
        [by('finished_reason="length"'), requests.length],
        [by('finished_reason="abort"'), requests.abort],
        [by('finished_reason="error"'), 0],
      ],
    ],
    ["vllm:num_preemptions", "counter", [[all, state.preemptions]]],
    histogram("vllm:iteration_tokens_total", state.steps, promptTokens - cachedTokens + generatedTokens),
    histogram("vllm:request_queue_time_seconds", finished, seconds.queue),
    histogram("vllm:request_prefill_time_seconds", finished, seconds.prefill),
    histogram("vllm:request_decode_time_seconds", finished, seconds.decode),
    histogram("vllm:request_inference_time_seconds", finished, seconds.prefill + seconds.decode),
  ];
}
