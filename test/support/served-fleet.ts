import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";
import { SERVING_INTERVAL as STEP, type ServingScrape } from "./serving.ts";

/** The start of the fleet's period. */
export const SERVED_START = Date.UTC(2026, 2, 2, 8);

/** Three GPUs of 3.60 an hour for two hours. The Deployment llm has two pods, and only llm-0 has a page. */
export const SERVED_FLEET = `
title: A group of two pods serves a model, and one GPU is free
period: { start: 2026-03-02T08:00:00Z, end: 2026-03-02T10:00:00Z }
nodes:
  - { name: gpu-a, model: NVIDIA-A100-SXM4-40GB, gpus: 3 }
namespaces:
  chat: { labels: { team: chat } }
pods:
  - name: llm-0
    namespace: chat
    node: gpu-a
    holds: { gpus: 1 }
    devices: [0]
    activity: 0.5
    workload: { kind: Deployment, name: llm }
  - name: llm-1
    namespace: chat
    node: gpu-a
    holds: { gpus: 1 }
    devices: [1]
    activity: 1
    workload: { kind: Deployment, name: llm }
prices:
  - { match: { model: "NVIDIA-A100*" }, from: 2026-01-01, per: gpu-hour, effective: "3.60" }
policies:
  - { name: default }
  - { name: platform-idle, payers: { idle: platform } }
`;

/** The page of llm-0 in the first hour. In the first half of it the engine works, in the second half it is idle. */
export const SERVED_PAGES = Array.from({ length: HOUR / STEP + 1 }, (_, index): ServingScrape => {
  const worked = Math.min(index, HOUR / 2 / STEP);
  const running = index < HOUR / 2 / STEP ? 2 : 0;
  return {
    at: SERVED_START + index * STEP,
    target: "http://10.0.0.1:8000/metrics",
    pod: "llm-0",
    series: [
      {
        values: {
          prompt_tokens: worked * 1000,
          generation_tokens: worked * 100,
          prefill_us: worked * 1_000_000,
          decode_us: worked * 3_000_000,
          requests_stop: worked,
          running,
          waiting: 0,
        },
      },
    ],
  };
});
