/** How bad an alert is. */
export type Severity = "critical" | "warning" | "info";
/** Who is woken: on-call at once, a queue of tickets, or nobody. */
export type Notify = "page" | "ticket" | "none";

/** Every severity, the worst first. */
export const SEVERITIES = ["critical", "warning", "info"] as const satisfies readonly Severity[];
/** Every way to tell somebody. */
export const NOTIFIES = ["page", "ticket", "none"] as const satisfies readonly Notify[];

/** A series that Prometheus computes. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** An alert as Prometheus has it. */
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
