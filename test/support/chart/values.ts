/** The values that the chart requires: the addresses of Kafka and ClickHouse, the same as the manifests' placeholders. */
export const LEAST = {
  kafka: { brokers: ["kafka-0.kafka.example.com:9092", "kafka-1.kafka.example.com:9092"] },
  clickhouse: { url: "http://clickhouse.clickhouse.example.com:8123", existingSecret: "gpu-ledger-clickhouse" },
};

const TOKEN = { name: "ops", role: "administrator", sha256: "9f".repeat(32) };

/** The small form with its first token. */
export const SMALL = { mode: "small", config: { server: { access: { tokens: [TOKEN] } } } };

const EVERY_POD = {
  podAnnotations: { "example.com/restart": "2026-01-01" },
  podLabels: { "example.com/tier": "platform" },
  nodeSelector: { "kubernetes.io/arch": "amd64" },
  tolerations: [{ key: "dedicated", operator: "Equal", value: "platform", effect: "NoSchedule" }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "nvidia.com/gpu.present", operator: "DoesNotExist" }] }],
      },
    },
  },
  priorityClassName: "platform",
  extraEnv: [{ name: "NODE_EXTRA_CA_CERTS", value: "/etc/ssl/company/ca.pem" }],
  extraVolumes: [{ name: "company-ca", configMap: { name: "company-ca" } }],
  extraVolumeMounts: [{ name: "company-ca", mountPath: "/etc/ssl/company", readOnly: true }],
};

const SWITCHES = {
  metricsToken: { enabled: true, existingSecret: "prometheus-token" },
  serviceAccount: { annotations: { "eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/gpu-ledger" } },
  rbac: { extraRules: [{ apiGroups: ["example.com"], resources: ["experiments"], verbs: ["get"] }] },
  service: { type: "LoadBalancer", port: 8080, annotations: { "example.com/internal": "true" } },
  ingress: {
    enabled: true,
    className: "nginx",
    annotations: { "cert-manager.io/cluster-issuer": "company" },
    hosts: [{ host: "gpu-ledger.example.com" }, { host: "gpus.example.com", path: "/ledger" }],
    tls: [{ secretName: "gpu-ledger-tls", hosts: ["gpu-ledger.example.com"] }],
  },
  networkPolicy: {
    enabled: true,
    metricsFrom: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
    serverFrom: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress" } } }],
    remoteWriteFrom: [{ podSelector: { matchLabels: { "app.kubernetes.io/name": "prometheus" } } }],
    extraEgress: [{ ports: [{ port: 443 }], to: [{ ipBlock: { cidr: "192.0.2.0/24" } }] }],
  },
  prometheusRule: {
    enabled: true,
    labels: { release: "kube-prometheus-stack" },
    annotations: { "example.com/owner": "platform" },
    server: "https://gpu-ledger.example.com",
    grafana: "https://grafana.example.com",
  },
  serviceMonitor: {
    enabled: true,
    labels: { release: "kube-prometheus-stack" },
    annotations: { "example.com/owner": "platform" },
  },
  dashboards: {
    enabled: true,
    labels: { grafana_dashboard: "1", team: "platform" },
    annotations: { grafana_folder: "GPUs" },
  },
};

/** Every switch of the form with Kafka and ClickHouse turned on. */
export const EVERYTHING = {
  ...SWITCHES,
  cluster: "prod",
  image: {
    repository: "registry.example.com/gpu-ledger",
    tag: "1.2.3",
    pullPolicy: "Always",
    pullSecrets: ["registry"],
  },
  kafka: {
    brokers: ["kafka-0.kafka:9093", "[2001:db8::1]:9094"],
    tls: { enabled: true, caSecret: "kafka-ca", clientSecret: "kafka-client" },
    sasl: { mechanism: "scram-sha-512", username: "ledger", password: "of-kafka" },
  },
  clickhouse: { url: "https://clickhouse.clickhouse.svc", password: "of-clickhouse" },
  config: {
    collector: {
      interval: "15s",
      remoteWrite: { listen: "0.0.0.0:9095", plainHttp: true, bearerToken: "of-senders" },
    },
    kubernetes: { labels: ["team"] },
    closing: { day: 5 },
    pricesFile: "prices.yaml",
  },
  files: {
    "prices.yaml": "currency: EUR\nprices:\n  - { match: {}, from: 2026-01-01, per: gpu-hour, list: '2.50' }\n",
  },
  collectorFiles: { "ca.pem": "-----BEGIN CERTIFICATE-----\n" },
  collector: { ...EVERY_POD, replicas: 5, persistence: { size: "20Gi", storageClass: "fast" } },
  processor: { ...EVERY_POD, scaling: { by: "keda", min: 3, max: 6, lag: 2000 } },
  server: { ...EVERY_POD, replicas: 3 },
};

/** Every switch of the small form turned on. */
export const SMALL_EVERYTHING = {
  ...SWITCHES,
  ...SMALL,
  small: { ...EVERY_POD, persistence: { size: "100Gi", storageClass: "fast" } },
  files: { "prices.yaml": "currency: EUR\n" },
  collectorFiles: { "ca.pem": "-----BEGIN CERTIFICATE-----\n" },
};

/** OpenShift, with its own monitoring of users' workloads, and an HPA. */
export const OPENSHIFT = {
  ...LEAST,
  openshift: true,
  processor: { scaling: { by: "hpa" } },
  networkPolicy: { enabled: true },
  prometheusRule: { enabled: true },
  serviceMonitor: { enabled: true },
};

/** Processors that post Events about training runs. */
export const TRAINING_EVENTS = {
  ...LEAST,
  config: { kubernetes: { labels: ["team"] }, training: { events: true } },
  networkPolicy: { enabled: true },
};

/** TLS on every port, for clients with and without a certificate. */
export const TLS = {
  ...LEAST,
  tls: {
    enabled: true,
    secretName: "ledger-tls",
    clientCaSecret: "client-ca",
    clientAuthType: "VerifyClientCertIfGiven",
  },
  config: { server: { tls: { minVersion: "TLS13" } } },
};

/** TLS on every port, only for clients with a certificate. */
export const MUTUAL_TLS = {
  ...SMALL,
  tls: {
    ...TLS.tls,
    clientAuthType: "RequireAndVerifyClientCert",
    clientAllowedSans: ["prometheus.example.com"],
    probeSecret: "probe-tls",
  },
  serviceMonitor: {
    enabled: true,
    tlsConfig: {
      ca: { configMap: { name: "company-ca", key: "ca.pem" } },
      cert: { secret: { name: "prometheus-tls", key: "tls.crt" } },
      keySecret: { name: "prometheus-tls", key: "tls.key" },
      serverName: "gpu-ledger.example.com",
    },
  },
};

/** Texts that YAML or a template could misread as another type or as syntax. */
export const HOSTILE_TEXTS = [
  "yes",
  "null",
  "0x1F",
  "1e3",
  "017",
  "2026-01-01",
  "~",
  "*a",
  "&a",
  "- b",
  "a: b # c",
  "{{ .Values.mode }}",
  '"',
  "'",
  "a\n---\nkind: Pod\n",
  "\\n",
  " ",
  "ü€",
  "%",
];

const HOSTILE = HOSTILE_TEXTS.join("|");

/** The hostile texts in each value that may be any text. */
export const HOSTILE_VALUES = {
  ...LEAST,
  cluster: HOSTILE,
  clickhouse: { url: LEAST.clickhouse.url, username: HOSTILE, password: HOSTILE },
  kafka: { ...LEAST.kafka, sasl: { mechanism: "plain", username: HOSTILE, password: HOSTILE } },
  config: { register: HOSTILE_TEXTS, fixed: [], closing: { day: 3 } },
  files: { "owners.csv": HOSTILE },
  collector: { podAnnotations: Object.fromEntries(HOSTILE_TEXTS.map((text, index) => [`example.com/${index}`, text])) },
  processor: { extraEnv: HOSTILE_TEXTS.map((value, index) => ({ name: `VALUE_${index}`, value })) },
  dashboards: { enabled: true, labels: { grafana_dashboard: "true" }, annotations: { grafana_folder: HOSTILE } },
};
