/** The severity of an alert. */
export type Severity = "critical" | "warning" | "info";
/** The notification: on-call at once, a queue of tickets, or none. */
export type Notify = "page" | "ticket" | "none";

/** Every severity, worst first. */
export const SEVERITIES = ["critical", "warning", "info"] as const satisfies readonly Severity[];
/** Every kind of notification. */
export const NOTIFIES = ["page", "ticket", "none"] as const satisfies readonly Notify[];

/** A series that Prometheus computes. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** An alert in Prometheus' form. */
export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly forMillis: number;
  readonly keepFiringForMillis?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Rules that are evaluated together, in order. */
export interface RuleGroup<Rule = RecordingRule | AlertingRule> {
  readonly name: string;
  readonly intervalMillis: number;
  readonly rules: readonly Rule[];
}
