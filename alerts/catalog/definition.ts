import type { Notify, Severity } from "../model.ts";
import type { AlertOptions } from "../options.ts";

/** What an alert is about, and with it the labels that identify it and what its annotations look up. */
export type Subject = "gpu" | "pod" | "node" | "team" | "exporter" | "pipeline";

/** The groups of alerts by what they are for; `--only` picks among them. */
export const ALERT_GROUPS = ["telemetry", "xid", "memory", "thermal", "links", "waste", "queue", "pipeline"] as const;
/** A group of alerts. */
export type AlertGroup = (typeof ALERT_GROUPS)[number];

/** A number of an alert that the configuration can change. */
export interface Parameter {
  readonly value: number;
  readonly least: number;
  readonly most: number;
  /** What it says, with its unit. */
  readonly help: string;
}

/** What an alert may need beside an exporter: pods named on its series, kube-state-metrics, our own programs. */
export type AlertSource = "pods" | "kube-state-metrics" | "gpu-ledger";

/** The numbers of an alert by name. */
export type Numbers = Readonly<Record<string, number>>;

/** An alert of the catalogue. */
export interface AlertDefinition {
  readonly name: string;
  readonly group: AlertGroup;
  readonly subject: Subject;
  readonly severity: Severity;
  readonly notify: Notify;
  readonly forMillis: number;
  readonly keepFiringForMillis?: number;
  /** How often it is looked at; with the quick rules where it is left out. */
  readonly everyMillis?: number;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  /** Canonical metrics without which it can't fire; of each list any is enough. */
  readonly counters?: readonly (readonly string[])[];
  /** What else must be there. */
  readonly sources?: readonly AlertSource[];
  readonly expr: (options: AlertOptions, numbers: Numbers) => string;
  /** What is the matter, always the same words. */
  readonly summary: string;
  /** What is the matter here: a template of Prometheus. */
  readonly description: string;
}

/** A parameter that is a part of a whole. */
export function ratio(value: number, help: string): Parameter {
  return { value, least: 0, most: 1, help };
}

/** A parameter between two bounds. */
export function number(value: number, least: number, most: number, help: string): Parameter {
  return { value, least, most, help };
}
