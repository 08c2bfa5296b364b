import type { Notify, Severity } from "../model.ts";
import type { AlertOptions } from "../options.ts";

/** The subject of an alert. It decides the identifying labels and the lookups of annotations. */
export type Subject = "gpu" | "pod" | "node" | "team" | "exporter" | "pipeline";

/** The groups of alerts by purpose. `--only` selects among them. */
export const ALERT_GROUPS = [
  "telemetry",
  "xid",
  "memory",
  "thermal",
  "links",
  "waste",
  "queue",
  "serving",
  "pipeline",
] as const;
/** A group of alerts. */
export type AlertGroup = (typeof ALERT_GROUPS)[number];

/** A number of an alert that the configuration can change. */
export interface Parameter {
  readonly value: number;
  readonly least: number;
  readonly most: number;
  /** The description, with its unit. */
  readonly help: string;
}

/** The sources that an alert may need beside an exporter: pods on its series, kube-state-metrics, this project's own programs. */
export type AlertSource = "pods" | "kube-state-metrics" | "gpu-ledger";

/** The numbers of an alert by name. */
export type Numbers = Readonly<Record<string, number>>;

/** An alert of the catalog. */
export interface AlertDefinition {
  readonly name: string;
  readonly group: AlertGroup;
  readonly subject: Subject;
  readonly severity: Severity;
  readonly notify: Notify;
  readonly forMillis: number;
  readonly keepFiringForMillis?: number;
  /** The interval of evaluation; with the quick rules if absent. */
  readonly everyMillis?: number;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  /** The canonical metrics that it needs: at least one of each list. */
  readonly counters?: readonly (readonly string[])[];
  /** For alerts about teams: the series that has each team, if that is not `team:gpus_held:count` with its cluster. */
  readonly teamSeries?: string;
  /** The other sources that it needs. */
  readonly sources?: readonly AlertSource[];
  readonly expr: (options: AlertOptions, numbers: Numbers) => string;
  /** The fault, always in the same words. */
  readonly summary: string;
  /** The fault with its location: a template of Prometheus. */
  readonly description: string;
}

/** The range in which the last value of `teamSeries` counts: a change of the leader takes less. */
export const TEAMS_OF = "15m";

/** Returns a parameter that is a part of a whole. */
export function ratio(value: number, help: string): Parameter {
  return { value, least: 0, most: 1, help };
}

/** Returns a parameter between two bounds. */
export function number(value: number, least: number, most: number, help: string): Parameter {
  return { value, least, most, help };
}
