import { PACE_MILLIS } from "../paces.ts";
import { IDLE_ENGINES, IDLE_RATIO, TOKEN_COST, TOKEN_COST_DAY, WAITING_REQUESTS } from "../recording/services.ts";
import { number, ratio, type AlertDefinition } from "./definition.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

const serving = {
  group: "serving",
  subject: "team",
  sources: ["gpu-ledger"],
  severity: "warning",
  notify: "ticket",
  everyMillis: PACE_MILLIS.fourMinutes,
} as const;

/** Alerts about inference services: their cost, and their use of engines. */
export const SERVING_ALERTS: readonly AlertDefinition[] = [
  {
    ...serving,
    name: "ServiceTokenCostUp",
    teamSeries: TOKEN_COST,
    forMillis: HOUR_MILLIS,
    parameters: { factor: number(1.5, 1, 1000, "the cost of a day over the cost of the same day a week ago") },
    expr: (_, { factor }) => `${TOKEN_COST_DAY}
> ${factor} * ${TOKEN_COST_DAY} offset 7d`,
    summary: "A million tokens of a service cost more than a week ago.",
    description:
      "A million tokens of the model {{ $labels.model }} of {{ $labels.namespace }}/{{ $labels.workload }} cost {{ $value | humanize }} on average over the last day, much more than on the same day a week ago. The service has less traffic for its engines, or dearer GPUs.",
  },
  {
    ...serving,
    name: "ServiceIdle",
    teamSeries: IDLE_RATIO,
    forMillis: 6 * HOUR_MILLIS,
    parameters: { threshold: ratio(0.95, "part of an hour in which the engines had no request") },
    expr: (_, { threshold }) => `${IDLE_RATIO} > ${threshold}`,
    summary: "An inference service had hardly any request for hours.",
    description:
      "The engines of {{ $labels.namespace }}/{{ $labels.workload }} had no request in {{ $value | humanizePercentage }} of the last hour, and in hardly any hour before. They hold their GPUs all the time.",
  },
  {
    ...serving,
    name: "ServiceQueueWhileIdle",
    teamSeries: WAITING_REQUESTS,
    forMillis: HOUR_MILLIS,
    parameters: { waiting: number(1, 0, 1e6, "waiting requests, averaged over an hour, that are normal") },
    expr: (_, { waiting }) => `${WAITING_REQUESTS} > ${waiting}
and ${IDLE_ENGINES} > 0`,
    summary: "Requests of a service wait while some of its engines are idle.",
    description:
      "{{ $value | humanize }} requests of {{ $labels.namespace }}/{{ $labels.workload }} waited on average over the last hour, while at least one of its engines had hardly any request. The requests are not spread over the engines.",
  },
];
