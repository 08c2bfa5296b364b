import type { V1ConfigMap } from "@kubernetes/client-node";
import { METRICS_SECRET, NAMESPACE } from "./names.ts";

/** The folder of a pod's configuration, one of the folders in which the program searches for it. */
export const CONFIG_FOLDER = "/etc/gpu-ledger";

/** The file in the folder, and the one key of the ConfigMap. */
export const CONFIG_FILE = "gpu-ledger.yaml";

/** The folder of the collector's volume, where the spool is. */
export const DATA_FOLDER = "/var/lib/gpu-ledger";

/** The port of health, status and metrics. */
export const STATUS_PORT = 8080;

/** The variable with ClickHouse's password for the processor. */
export const PASSWORD_VARIABLE = "CLICKHOUSE_PASSWORD";

/** The variable with the token that Prometheus needs for metrics, if the configuration names it. */
export const METRICS_VARIABLE = "METRICS_TOKEN";

const COMMON = `cluster: default # the cluster's name, on every row and every fact
server:
  listen: "0.0.0.0:${STATUS_PORT}"
  plainHttp: true # on the network of the pods; docs/access.md has TLS
  # metricsToken: { env: ${METRICS_VARIABLE} } # of the Secret ${METRICS_SECRET}; then Prometheus has to give it: docs/access.md
`;

const BUS = `bus:
  kind: kafka
  kafka:
    brokers: # the addresses of your Kafka
      - kafka-0.kafka.example.com:9092
      - kafka-1.kafka.example.com:9092
`;

/** The collectors' configuration: this cluster, its exporters' pods, and Kafka. It does not contain the store. */
export const COLLECTOR_CONFIG = `${COMMON}data: ${DATA_FOLDER} # the volume, for what waits while Kafka is away
collector:
  jobs:
    - name: exporters
      kubernetes: {} # the exporters' pods of this cluster, as they come and go
kubernetes:
  clusters: [{}] # this one
# owners, prices and training.runKeys that name labels belong here too: collectors keep the labels that they name
${BUS}`;

/** The processors' configuration: Kafka and the store. */
export const PROCESSOR_CONFIG = `${COMMON}${BUS}store:
  kind: clickhouse
  clickhouse:
    url: http://clickhouse.clickhouse.example.com:8123 # the address of your ClickHouse
    username: gpu_ledger
    password: { env: ${PASSWORD_VARIABLE} } # of the Secret
`;

/** Returns a ConfigMap with one configuration. */
export function configMap(name: string, text: string): V1ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: NAMESPACE },
    data: { [CONFIG_FILE]: text },
  };
}
