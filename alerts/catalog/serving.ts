import type { AlertOptions } from "../options.ts";
import { select } from "../promql.ts";
import { PACE_MILLIS } from "../paces.ts";
import { number, ratio, TEAMS_OF, type AlertDefinition } from "./definition.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

/** The series of the leader about services in the last ended hour. */
const TOKEN_COST = "gpu_ledger_serving_cost_per_million_tokens";
const IDLE_RATIO = "gpu_ledger_serving_idle_ratio";
const WAITING = "gpu_ledger_serving_waiting_requests";
const IDLE_ENGINES = "gpu_ledger_serving_idle_engines";

const SERVICE = "team, cluster, namespace, workload";

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
    expr: (options, { factor }) =>
      `${dayOf(options, "")}
> ${factor} * ${dayOf(options, " offset 7d")}`,
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
    expr: (options, { threshold }) => `min by (${SERVICE}) (${lately(options, "min", IDLE_RATIO)}) > ${threshold}`,
    summary: "An inference service had hardly any request for hours.",
    description:
      "The engines of {{ $labels.namespace }}/{{ $labels.workload }} had no request in {{ $value | humanizePercentage }} of the last hour, and in hardly any hour before. They hold their GPUs all the time.",
  },
  {
    ...serving,
    name: "ServiceQueueWhileIdle",
    teamSeries: WAITING,
    forMillis: HOUR_MILLIS,
    parameters: { waiting: number(1, 0, 1e6, "waiting requests, averaged over an hour, that are normal") },
    expr: (options, { waiting }) =>
      `max by (${SERVICE}) (${lately(options, "max", WAITING)}) > ${waiting}
and max by (${SERVICE}) (${lately(options, "max", IDLE_ENGINES)}) > 0`,
    summary: "Requests of a service wait while some of its engines are idle.",
    description:
      "{{ $value | humanize }} requests of {{ $labels.namespace }}/{{ $labels.workload }} waited on average over the last hour, while at least one of its engines had hardly any request. The requests are not spread over the engines.",
  },
];

/** Returns the last values of a series. A new leader has the series after a minute; until then the values of the former leader count. */
function lately({ selectors }: AlertOptions, aggregate: "min" | "max", series: string): string {
  return `${aggregate}_over_time(${select(series, selectors.ledger)}[${TEAMS_OF}])`;
}

/** Returns the cost of a million tokens, averaged over a day. */
function dayOf({ selectors }: AlertOptions, offset: string): string {
  const series = select(TOKEN_COST, selectors.ledger, 'cost="loaded"');
  return `avg by (${SERVICE}, model) (avg_over_time(${series}[1d]${offset}))`;
}
