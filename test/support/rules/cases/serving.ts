import { fires, records, silent, type ExpectedAlert, type InputSeries, type RuleCase } from "../case.ts";
import { series } from "../fleet.ts";

const TICKET = { severity: "warning", notify: "ticket" } as const;
type Labels = Readonly<Record<string, string>>;

/** A series of the leader about a service of the team chat. */
const leads = (name: string, workload: string, values: string, labels: Labels = {}): InputSeries =>
  series(`gpu_ledger_serving_${name}`, values, {
    job: "gpu-ledger-processor",
    instance: "processor-0:8080",
    cluster: "prod",
    namespace: "chat",
    workload,
    team: "chat",
    ...labels,
  });
const tokens = (workload: string, values: string, cost = "loaded"): InputSeries =>
  leads("cost_per_million_tokens", workload, values, { model: "qwen", cost });
const service = (workload: string, description: string, labels: Labels = {}): ExpectedAlert => ({
  labels: { cluster: "prod", namespace: "chat", workload, team: "chat", ...labels, ...TICKET },
  annotations: { description },
});

const SERVICE = { cluster: "prod", namespace: "chat", workload: "llm", team: "chat" };

/** The series of a service from two leaders, of which the second one has only begun. Both end after ten minutes. */
const RECORDED = (
  [
    ["cost_per_million_tokens", "2x10", { model: "m", cost: "loaded" }],
    ["cost_per_million_tokens", "1x10", { model: "m", cost: "busy" }],
    ["cost_per_hour", "3x10", { model: "m" }],
    ["cost_per_hour", "4x10", { model: "n" }],
    ["engines", "6x10", {}],
    ["idle_ratio", "0.5x10", {}],
    ["waiting_requests", "1.5x10", {}],
    ["idle_engines", "2x10", {}],
  ] as const
).flatMap(([name, values, labels]) => [
  leads(name, "llm", values, labels),
  leads(name, "llm", values, { ...labels, instance: "processor-1:8080" }),
]);
const SERVICES: readonly (readonly [record: string, samples: Parameters<typeof records>[1]])[] = [
  [
    "service:cost_per_million_tokens:max",
    [
      [{ ...SERVICE, model: "m", cost: "loaded" }, 2],
      [{ ...SERVICE, model: "m", cost: "busy" }, 1],
    ],
  ],
  ["service:cost_per_hour:sum", [[SERVICE, 7]]],
  [
    "service:engines:max",
    [
      [SERVICE, 6],
      [{ ...SERVICE, workload: "renamed" }, 9],
    ],
  ],
  ["service:idle:ratio", [[SERVICE, 0.5]]],
  ["service:waiting_requests:max", [[SERVICE, 1.5]]],
  ["service:idle_engines:max", [[SERVICE, 2]]],
];

/** Alerts about services: just below and just above their thresholds. */
export const SERVING_CASES: readonly RuleCase[] = [
  {
    name: "the series of a service are those of its leaders, for ten minutes after the last one went away",
    every: "1m",
    evaluate: "1m",
    input: [
      ...RECORDED,
      // Without honor_labels, Prometheus has the processor's namespace and cluster beside the service's.
      leads("engines", "renamed", "9x10", {
        namespace: "gpu-ledger",
        exported_namespace: "chat",
        cluster: "own",
        exported_cluster: "prod",
      }),
    ],
    expect: SERVICES.flatMap(([record, samples]) => [
      ...records(record, samples, "1m", "19m"),
      ...records(record, [], "25m"),
    ]),
  },
  {
    name: "ServiceTokenCostUp fires an hour after a day's tokens cost over 1.5 times those of a week ago",
    every: "1h",
    evaluate: "20m",
    input: [
      tokens("dear", "2x191 3.02x48"),
      tokens("steady", "2x191 3x48"),
      tokens("new", "_x191 9x48"),
      // Only the loaded cost counts.
      tokens("steady", "1x191 9x48", "busy"),
      // A day of rising costs a week ago is compared with a day of rising costs.
      tokens("weekly", "2x23 9x24 2x143 9x48"),
    ],
    expect: [
      // From 215:20 on, all samples of the last day are of the higher cost.
      ...silent("ServiceTokenCostUp", "191h", "214h", "216h"),
      ...fires(
        "ServiceTokenCostUp",
        service(
          "dear",
          "A million tokens of the model qwen of chat/dear cost 3.02 on average over the last day, much more than on the same day a week ago. The service has less traffic for its engines, or dearer GPUs.",
          { model: "qwen" },
        ),
        "216h20m",
        "219h",
      ),
    ],
  },
  {
    name: "ServiceIdle fires after six hours in which over 95 % of the time had no request, also with another leader",
    every: "5m",
    evaluate: "5m",
    input: [
      leads("idle_ratio", "forgotten", "0.2x5 0.96x40 _x60"),
      // Both leaders have the series for a moment, and then neither for ten minutes.
      leads("idle_ratio", "forgotten", "_x44 0.96x1 _x1 0.96x60", { instance: "processor-1:8080" }),
      leads("idle_ratio", "nearly", "0.95x110"),
      leads("idle_ratio", "sometimes", "0.99x50 0.2x3 0.99x60"),
    ],
    expect: [
      ...silent("ServiceIdle", "4h"),
      ...silent("ServiceIdle", "6h25m"),
      ...fires(
        "ServiceIdle",
        service(
          "forgotten",
          "The engines of chat/forgotten had no request in 96% of the last hour, and in hardly any hour before. They hold their GPUs all the time.",
        ),
        "6h55m",
        "8h30m",
      ),
    ],
  },
  {
    name: "ServiceQueueWhileIdle fires after an hour in which over one request waits while an engine is idle",
    every: "5m",
    evaluate: "5m",
    input: [
      leads("waiting_requests", "skewed", "0x5 1.1x20 1x20"),
      leads("idle_engines", "skewed", "1x46"),
      leads("waiting_requests", "few", "1x46"),
      leads("idle_engines", "few", "1x46"),
      leads("waiting_requests", "busy", "7x46"),
      leads("idle_engines", "busy", "0x46"),
    ],
    expect: [
      ...silent("ServiceQueueWhileIdle", "1h25m"),
      ...fires(
        "ServiceQueueWhileIdle",
        service(
          "skewed",
          "1.1 requests of chat/skewed waited on average over the last hour, while at least one of its engines had hardly any request. The requests are not spread over the engines.",
        ),
        "1h35m",
        "2h10m",
      ),
      ...silent("ServiceQueueWhileIdle", "2h35m"),
    ],
  },
];
