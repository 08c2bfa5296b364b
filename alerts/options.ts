import type { Notify, Severity } from "./model.ts";

/** The changes to one alert: its parameters by name, and the common fields. */
export interface AlertOverride {
  readonly parameters: Readonly<Record<string, number>>;
  readonly forMillis?: number | undefined;
  readonly severity?: Severity | undefined;
  readonly notify?: Notify | undefined;
  readonly enabled?: boolean | undefined;
}

/** The changes to one alert for one team. */
export type TeamOverride = Pick<AlertOverride, "parameters" | "forMillis" | "enabled">;

/** All options of the generator. */
export interface AlertOptions {
  /** The interval of the quick groups. */
  readonly intervalMillis: number;
  /** The label that separates clusters. A Prometheus without it has one cluster. */
  readonly clusterLabel: string;
  /** The labels with an exporter's node. The first one present counts. */
  readonly nodeLabels: readonly string[];
  /** Matchers of the read series: of exporters, of their targets, of kube-state-metrics, of this project. */
  readonly selectors: {
    readonly series: string;
    readonly exporters: string;
    readonly kubeStateMetrics: string;
    readonly ledger: string;
  };
  /** The names of exporters' own pods, which hold no GPU although honored labels contain them. */
  readonly exporterPods: string;
  /** The label of pods and namespaces that are left out of alerts about waste. */
  readonly optOut: { readonly label: string; readonly value: string };
  /** The labels with a workload's owner in kube-state-metrics, for clusters without a processor. */
  readonly ownerLabels: { readonly team: string; readonly costCenter: string };
  readonly runbooks: string;
  /** The addresses of gpu-ledger's pages and of Grafana, for links; if absent, there are no links to them. */
  readonly server: string | undefined;
  readonly grafana: string | undefined;
  /** True if annotations contain money. */
  readonly money: boolean;
  /** The prefix of the name of every alert and group. */
  readonly prefix: string;
  /** Labels that every alert gets. */
  readonly labels: Readonly<Record<string, string>>;
  readonly watchdog: boolean;
  /** The wanted groups of alerts; all if absent. */
  readonly only: readonly string[] | undefined;
  readonly alerts: Readonly<Record<string, AlertOverride>>;
  readonly teams: Readonly<Record<string, Readonly<Record<string, TeamOverride>>>>;
}

/** The default options. */
export const DEFAULT_ALERT_OPTIONS: AlertOptions = {
  intervalMillis: 30_000,
  clusterLabel: "cluster",
  nodeLabels: ["node", "Hostname", "hostname", "HOSTNAME"],
  selectors: {
    series: "",
    exporters: 'job=~".*(dcgm|device-metrics|gpu-metrics)-exporter.*"',
    kubeStateMetrics: "",
    ledger: 'job=~".*gpu-ledger.*"',
  },
  exporterPods: "(.*-)?(dcgm|metrics|gpu|nvidia|smi|xpum)-exporter(-.*)?",
  optOut: { label: "gpu-ledger/alerts", value: "off" },
  ownerLabels: { team: "team", costCenter: "cost-center" },
  runbooks: "https://github.com/gpu-ledger/gpu-ledger/blob/main/docs/runbooks",
  server: undefined,
  grafana: undefined,
  money: true,
  prefix: "",
  labels: {},
  watchdog: false,
  only: undefined,
  alerts: {},
  teams: {},
};
