import type { Notify, Severity } from "./model.ts";

/** What is changed of one alert: its parameters by name, and what every alert has. */
export interface AlertOverride {
  readonly parameters: Readonly<Record<string, number>>;
  readonly forMillis?: number | undefined;
  readonly severity?: Severity | undefined;
  readonly notify?: Notify | undefined;
  readonly enabled?: boolean | undefined;
}

/** What is changed of one alert for one team. */
export type TeamOverride = Pick<AlertOverride, "parameters" | "forMillis" | "enabled">;

/** Everything that the generator can be told. */
export interface AlertOptions {
  /** How often the quick groups are evaluated. */
  readonly intervalMillis: number;
  /** The label that tells clusters apart; a Prometheus without it has one cluster. */
  readonly clusterLabel: string;
  /** The labels that say on which node an exporter runs, the first that is there counts. */
  readonly nodeLabels: readonly string[];
  /** Matchers of what is read: of exporters' series, of their targets, of kube-state-metrics, of our own. */
  readonly selectors: {
    readonly series: string;
    readonly exporters: string;
    readonly kubeStateMetrics: string;
    readonly ledger: string;
  };
  /** Names of exporters' own pods, which hold no GPU though honoured labels say so. */
  readonly exporterPods: string;
  /** Pods and namespaces with this label are left out of alerts about waste. */
  readonly optOut: { readonly label: string; readonly value: string };
  /** Where kube-state-metrics carries who owns a workload, for clusters without our processor. */
  readonly ownerLabels: { readonly team: string; readonly costCentre: string };
  readonly runbooks: string;
  /** The address of our own pages, for links; none are written where it is left out. */
  readonly server: string | undefined;
  /** Whether annotations name money. */
  readonly money: boolean;
  /** Written before the name of every alert and group. */
  readonly prefix: string;
  /** Labels that every alert gets. */
  readonly labels: Readonly<Record<string, string>>;
  readonly watchdog: boolean;
  /** The groups of alerts that are wanted; all where it is left out. */
  readonly only: readonly string[] | undefined;
  readonly alerts: Readonly<Record<string, AlertOverride>>;
  readonly teams: Readonly<Record<string, Readonly<Record<string, TeamOverride>>>>;
}

/** What holds where nothing is said. */
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
  ownerLabels: { team: "team", costCentre: "cost-center" },
  runbooks: "https://github.com/gpu-ledger/gpu-ledger/blob/main/docs/runbooks",
  server: undefined,
  money: true,
  prefix: "",
  labels: {},
  watchdog: false,
  only: undefined,
  alerts: {},
  teams: {},
};
