// Writes the plain manifests (deploy/kubernetes) from the chart, without what is Helm's: `npm run generate`. The namespace and the configuration, which
// people edit, are written by hand. Without Helm on the PATH the files stay; test/full/chart.test.ts compares them with the chart.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { parseAllDocuments, stringify } from "yaml";

const OF_HELM = [
  "app.kubernetes.io/instance",
  "app.kubernetes.io/managed-by",
  "app.kubernetes.io/version",
  "helm.sh/chart",
  "checksum/config",
];
const HEADER = "# Written from the chart in deploy/ by `npm run generate`.\n";
const IMAGE = "The entrypoint of the image is gpu-ledger.";

/** The objects of each file in the order in which `kubectl apply` needs them, with a comment for the reader. */
const FILES = {
  "2-access.yaml": [
    ["ServiceAccount/gpu-ledger-collector", "The account of the collectors."],
    [
      "ClusterRole/gpu-ledger-collector",
      `The collectors' permissions in the whole cluster: list and watch the objects that reports need, and get the owners of pods.
Groups of operators that are not installed have no effect. They are watched after the installation.
Kinds that the configuration adds (kubernetes.owners) need a rule too: "get". \`gpu-ledger check\` lists missing permissions.`,
    ],
    ["ClusterRoleBinding/gpu-ledger-collector", ""],
    [
      "Role/gpu-ledger-collector",
      `The only object that the collectors write: the lease for the election of the watcher.
RBAC cannot bind "create" to a name.`,
    ],
    ["RoleBinding/gpu-ledger-collector", ""],
  ],
  "4-collector.yaml": [
    ["Service/gpu-ledger-collector", "Gives each collector a name."],
    [
      "StatefulSet/gpu-ledger-collector",
      `Collectors share the targets: each has the shard of the number at the end of its pod's name. For another number of
collectors, change replicas and --shards (2) together.
${IMAGE}`,
    ],
    ["PodDisruptionBudget/gpu-ledger-collector", ""],
  ],
  "5-processor.yaml": [
    [
      "Deployment/gpu-ledger-processor",
      `Processors share the partitions of the bus. Any number can run. They send no requests to the cluster.
${IMAGE}`,
    ],
    ["PodDisruptionBudget/gpu-ledger-processor", ""],
  ],
  "6-server.yaml": [
    [
      "Deployment/gpu-ledger-server",
      `Servers of the API and the pages, with the processors' configuration. They start when a token exists:
kubectl -n gpu-ledger exec deployment/gpu-ledger-processor -- gpu-ledger token create NAME --role administrator --config /etc/gpu-ledger/gpu-ledger.yaml
${IMAGE}`,
    ],
    [
      "Service/gpu-ledger-server",
      `For an Ingress or a Gateway, which adds TLS; name it in server.trustProxy. For immediate access:
kubectl -n gpu-ledger port-forward service/gpu-ledger-server 8080:80`,
    ],
    ["PodDisruptionBudget/gpu-ledger-server", ""],
  ],
};

/** Returns an object without the labels of Helm, and without what is empty then. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !OF_HELM.includes(name));
  const kept = entries.map(([name, inner]) => [name, plain(inner)]);
  return Object.fromEntries(kept.filter(([name, inner]) => name !== "labels" || Object.keys(inner).length > 0));
}

const helm = process.env.HELM ?? "helm";
const values = [
  "kafka.brokers={kafka-0.kafka.example.com:9092}",
  "clickhouse.url=http://clickhouse.example.com:8123",
  "clickhouse.existingSecret=gpu-ledger-clickhouse",
];
let rendered;
try {
  const options = [
    "--namespace",
    "gpu-ledger",
    "--kube-version",
    "1.37.0",
    ...values.flatMap((each) => ["--set", each]),
  ];
  rendered = execFileSync(helm, ["template", "gpu-ledger", "deploy", ...options], { encoding: "utf8" });
} catch (error) {
  if (error.code !== "ENOENT") throw error;
  process.stderr.write(
    "deploy/kubernetes stays as it is: there is no helm on the PATH (https://helm.sh/docs/intro/install)\n",
  );
  process.exit(0);
}
const objects = new Map(
  parseAllDocuments(rendered)
    .map((document) => document.toJS())
    .filter((object) => object !== null)
    .map((object) => [`${object.kind}/${object.metadata.name}`, plain(object)]),
);
for (const [file, named] of Object.entries(FILES)) {
  const documents = named.map(([name, comment]) => {
    const lines = comment === "" ? "" : `# ${comment.replaceAll("\n", "\n# ")}\n`;
    return `---\n${lines}${stringify(objects.get(name), { lineWidth: 0 })}`;
  });
  writeFileSync(`deploy/kubernetes/${file}`, HEADER + documents.join(""));
}
