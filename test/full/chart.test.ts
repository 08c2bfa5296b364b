import type { V1ConfigMap, V1ObjectMeta, V1PodSpec } from "@kubernetes/client-node";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { list } from "tar";
import { parse, parseAllDocuments, stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GPU_METRICS_PATH } from "../../services/gpu-metrics.ts";
import { projectionOf } from "../../services/projection.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { PROMETHEUS_RULE, SCALED_OBJECT, SERVICE_MONITOR } from "../support/autoscaling-shapes.ts";
import {
  lintChart,
  notesOf,
  packageChart,
  prepareHelm,
  renderChart,
  type ClusterObject,
  type Rendered,
} from "../support/chart/helm.ts";
import { prepareSchemas, schemaMisfits } from "../support/chart/schemas.ts";
import {
  EVERYTHING,
  HOSTILE_TEXTS,
  HOSTILE_VALUES,
  LEAST,
  MUTUAL_TLS,
  OPENSHIFT,
  SMALL,
  SMALL_EVERYTHING,
  TLS,
  TRAINING_EVENTS,
} from "../support/chart/values.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";

const OLDEST_KUBERNETES = "1.25";
const NEWEST_KUBERNETES = "1.37";
/** Most tests check Helm's output for each set of values. */
const CASES = {
  LEAST,
  EVERYTHING,
  SMALL,
  SMALL_EVERYTHING,
  OPENSHIFT,
  TLS,
  MUTUAL_TLS,
  TRAINING_EVENTS,
  HOSTILE_VALUES,
};
type Case = keyof typeof CASES;
const NAMES = Object.keys(CASES) as Case[];

/** Labels and annotations by which Helm and the chart identify their own objects. */
const OF_THE_CHART = [
  "app.kubernetes.io/instance",
  "app.kubernetes.io/managed-by",
  "app.kubernetes.io/version",
  "helm.sh/chart",
  "checksum/config",
];

/** A pod's template: the fields that tests read. */
interface Pod {
  readonly name: string;
  readonly metadata: V1ObjectMeta;
  readonly spec: V1PodSpec;
}

const ready = (await prepareHelm()) && (await prepareSchemas());

describe.skipIf(!ready)("the chart", () => {
  const rendered = {} as Record<Case, Rendered>;
  let folder: CommandFolder;

  beforeAll(async () => {
    folder = createCommandFolder();
    for (const name of NAMES) rendered[name] = await renderChart(CASES[name]);
  });
  afterAll(() => folder.dispose());

  const find = <Value>(name: Case, kind: string, object: string): Value => findIn(rendered[name], kind, object);

  it("passes Helm's strictest lint with every set of values, and with none", async () => {
    for (const values of [...Object.values(CASES), {}]) expect(await lintChart(values)).toContain("0 chart(s) failed");
  });

  it("makes objects that fit the schemas of the oldest and the newest Kubernetes, and those of the operators", async () => {
    const foreign = { PrometheusRule: PROMETHEUS_RULE, ServiceMonitor: SERVICE_MONITOR, ScaledObject: SCALED_OBJECT };
    const objects = NAMES.flatMap((name) => rendered[name].objects);
    const own = objects.filter(({ kind }) => !(kind in foreign));
    const once = [...new Map(own.map((object) => [JSON.stringify(object), object])).values()];
    expect(once.length).toBeGreaterThan(60);
    expect(await schemaMisfits(once, [OLDEST_KUBERNETES, NEWEST_KUBERNETES])).toEqual([]);
    const seen = new Set<string>();
    for (const [kind, shape] of Object.entries(foreign)) {
      for (const object of objects.filter((each) => each.kind === kind)) {
        expect(shape.parse(object)).toEqual(object);
        seen.add(kind);
      }
    }
    expect(seen).toEqual(new Set(Object.keys(foreign)));
    const broken = { ...once[0]!, kind: "Pod", apiVersion: "v1", spec: { containers: [{ nmae: "a" }] } };
    expect(await schemaMisfits([broken], [NEWEST_KUBERNETES])).toHaveLength(1);
  });

  it("makes the same objects as the manifests of deploy/kubernetes, except for those of Helm and the chart", () => {
    const manifests = readdirSync("deploy/kubernetes")
      .flatMap((file) => parseAllDocuments(readFileSync(join("deploy/kubernetes", file), "utf8")))
      .map((document) => document.toJS() as ClusterObject)
      .filter(({ kind }) => kind !== "Namespace");
    expect(comparable(rendered.LEAST.objects)).toEqual(comparable(manifests));
  });

  it("names every object once, in the release's namespace, and with the release's name", async () => {
    const other = await renderChart(EVERYTHING, { release: "a".repeat(53), namespace: "monitoring" });
    for (const { objects } of [...Object.values(rendered), other]) {
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(new Set(names).size).toBe(names.length);
      for (const { metadata } of objects) expect(metadata.name.length).toBeLessThanOrEqual(63);
    }
    const wide = other.objects.filter(({ metadata }) => metadata.namespace !== "monitoring").map(({ kind }) => kind);
    expect(wide.toSorted()).toEqual(["ClusterRole", "ClusterRoleBinding"]);
    expect(other.objects.every(({ metadata }) => /^a{29}-gpu-ledger/.test(metadata.name))).toBe(true);
  });

  it("has the version of the program, and of its image; the small form that of the embedded image", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(parse(readFileSync("deploy/Chart.yaml", "utf8"))).toMatchObject({ version, appVersion: version });
    const images = (name: Case): unknown => podsOf(rendered[name]).map(({ spec }) => spec.containers[0]!.image);
    expect(new Set(images("LEAST") as string[])).toEqual(new Set([`ghcr.io/gpu-ledger/gpu-ledger:${version}`]));
    expect(images("SMALL")).toEqual([`ghcr.io/gpu-ledger/gpu-ledger:${version}-embedded`]);
    expect(new Set(images("EVERYTHING") as string[])).toEqual(new Set(["registry.example.com/gpu-ledger:1.2.3"]));
  });

  it("renders the same twice, byte by byte", async () => {
    for (const name of NAMES) expect((await renderChart(CASES[name])).text).toBe(rendered[name].text);
  });

  it("restarts pods when their configuration changes, and no others", async () => {
    const changed = async (values: object): Promise<readonly string[]> => {
      const after = checksums(await renderChart({ ...LEAST, ...values }));
      return Object.entries(checksums(rendered.LEAST))
        .flatMap(([name, sum]) => (sum === after[name] ? [] : [name]))
        .toSorted();
    };
    expect(await changed({})).toEqual([]);
    expect(await changed({ cluster: "prod" })).toEqual(["collector", "processor", "server"]);
    expect(await changed({ config: { closing: { day: 5 } } })).toEqual(["processor", "server"]);
    expect(await changed({ files: { "prices.yaml": "prices: []" } })).toEqual(["processor", "server"]);
    expect(await changed({ config: { collector: { interval: "15s" } } })).toEqual(["collector"]);
    // Collectors keep the labels that name runs.
    expect(await changed({ config: { training: { runKeys: ["run"] } } })).toEqual(["collector", "processor", "server"]);
    expect(await changed({ collectorFiles: { "ca.pem": "" } })).toEqual(["collector"]);
  });

  it("gives collectors the labels and annotations that owners, prices and runs name, and no secret of the others", async () => {
    const rack = { match: { nodeLabel: { "example.com/rack": "r7" } }, from: "2026-01-01", per: "gpu-hour", list: "1" };
    const scope = { nodeLabel: "example.com/room=a, example.com/row=3" };
    const ofPods = [{ podLabel: "payer" }, { podAnnotation: "billing/team", name: "billing" }, { ownerLabel: "squad" }];
    const config = {
      kubernetes: { nodeLabels: ["given"] },
      owners: {
        team: [...ofPods, { namespaceLabel: "team" }, { queue: "research", value: "basic" }, { ownersFile: true }],
        project: [{ namespace: "vision-*", value: "vision" }],
      },
      prices: [rack],
      fixed: [{ from: "2026-01-01", amount: "1", per: "month", scope }],
      ownersFile: "owners.csv",
      training: {
        runKeys: ["run"],
        prometheus: [{ url: "http://p:9090", bearerToken: { file: "/etc/gpu-ledger/token" } }],
      },
    };
    const files = { "owners.csv": "kind,match,team\n" };
    const inline = await collectorOf({ config, files });
    const { pods, nodes } = projectionOf(inline);
    expect(pods.labels).toEqual(expect.arrayContaining(["payer", "billing/team", "squad", "run"]));
    expect(pods.annotations).toEqual(expect.arrayContaining(["payer", "billing/team", "squad"]));
    expect(nodes.labels).toEqual(["given", "example.com/rack", "example.com/room", "example.com/row"]);
    expect(inline.training).toMatchObject({ runKeys: ["run"], prometheus: [] });
    expect(inline.ownersFile).toBeUndefined();
    const inFile = {
      config: { pricesFile: "prices.yaml" },
      files: { "prices.yaml": stringify({ currency: "USD", prices: [rack] }) },
    };
    expect(projectionOf(await collectorOf(inFile)).nodes.labels).toEqual(["example.com/rack"]);
  });

  it("gives every pod a valid configuration, with the files and secrets that it names", () => {
    for (const name of NAMES) for (const pod of podsOf(rendered[name])) expect(configOf(name, pod)).toBeDefined();
    const config = Object.fromEntries(
      podsOf(rendered.EVERYTHING).map((pod) => [pod.name, configOf("EVERYTHING", pod)]),
    );
    expect(config["collector"]).toMatchObject({
      cluster: "prod",
      collector: { interval: 15_000, jobs: [{ kubernetes: {} }] },
      kubernetes: { labels: ["team"], clusters: [{}] },
      bus: { kafka: { sasl: { username: "ledger", password: "of KAFKA_PASSWORD" }, tls: { ca: "of ca.crt" } } },
      server: { metricsToken: "of METRICS_TOKEN" },
    });
    expect(config["processor"]).toMatchObject({
      closing: { day: 5 },
      pricesFile: { currency: "EUR" },
      store: { clickhouse: { url: "https://clickhouse.clickhouse.svc", password: "of CLICKHOUSE_PASSWORD" } },
    });
    expect(config["server"]).toEqual(config["processor"]);
    expect(configOf("SMALL", podsOf(rendered.SMALL)[0]!)).toMatchObject({
      bus: { kind: "embedded" },
      store: { kind: "embedded" },
      server: { access: { tokens: [{ name: "ops", role: "administrator" }] } },
    });
  });

  it("passes on every key of the annotated example", async () => {
    const example = parse(readFileSync("config/gpu-ledger.example.yaml", "utf8")) as Record<string, unknown>;
    const { objects, text } = await renderChart({ ...LEAST, config: example });
    const parsedConfigOf = (name: string): unknown =>
      parse(findIn<V1ConfigMap>({ objects, text }, "ConfigMap", name).data!["gpu-ledger.yaml"]!);
    const { collector, kubernetes, data, ...others } = example;
    expect(parsedConfigOf("gpu-ledger-processor")).toMatchObject(others);
    const { cluster, log, bus, server, tracing, metrics } = others;
    expect(parsedConfigOf("gpu-ledger-collector")).toMatchObject({
      cluster,
      log,
      bus,
      server,
      tracing,
      metrics,
      collector,
      kubernetes,
      data,
    });
    const small = await renderChart({ mode: "small", config: { ...example, ...SMALL.config } });
    expect(parse(findIn<V1ConfigMap>(small, "ConfigMap", "gpu-ledger-small").data!["gpu-ledger.yaml"]!)).toMatchObject({
      ...example,
      ...SMALL.config,
    });
  });

  it("passes texts on unchanged, also those that YAML or a template could misread", () => {
    const config = parse(
      find<V1ConfigMap>("HOSTILE_VALUES", "ConfigMap", "gpu-ledger-processor").data!["gpu-ledger.yaml"]!,
    ) as Config;
    const { cluster, files, clickhouse, kafka } = HOSTILE_VALUES;
    expect(config).toMatchObject({
      cluster,
      register: HOSTILE_TEXTS,
      store: { clickhouse: { username: clickhouse.username } },
    });
    expect(find<V1ConfigMap>("HOSTILE_VALUES", "ConfigMap", "gpu-ledger-processor").data).toMatchObject(files);
    const secret = (name: string): unknown =>
      find<{ stringData: unknown }>("HOSTILE_VALUES", "Secret", name).stringData;
    expect(secret("gpu-ledger-clickhouse")).toEqual({ password: clickhouse.password });
    expect(secret("gpu-ledger-kafka")).toEqual({ password: kafka.sasl.password });
    const pods = Object.fromEntries(podsOf(rendered.HOSTILE_VALUES).map((pod) => [pod.name, pod]));
    expect(pods["collector"]!.metadata.annotations).toMatchObject(HOSTILE_VALUES.collector.podAnnotations);
    expect(pods["processor"]!.spec.containers[0]!.env).toEqual(
      expect.arrayContaining(HOSTILE_VALUES.processor.extraEnv),
    );
  });

  it("has a password only in a Secret of its own, and none if the values name a Secret", () => {
    const { objects } = rendered.EVERYTHING;
    const holders = objects.filter((object) => /of-kafka|of-clickhouse/.test(JSON.stringify(object)));
    expect(holders.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "Secret gpu-ledger-clickhouse",
      "Secret gpu-ledger-kafka",
    ]);
    expect(rendered.LEAST.objects.filter(({ kind }) => kind === "Secret")).toEqual([]);
  });

  it("has the alerts' rules of deploy/prometheus, with the labels and the links of the values", () => {
    const { server, grafana } = EVERYTHING.prometheusRule;
    for (const name of ["gpu-ledger-alerts", "gpu-ledger-recording"]) {
      const rule = find<ClusterObject & { spec: unknown }>("EVERYTHING", "PrometheusRule", name);
      const rules = readFileSync(`deploy/prometheus/${name}.rules.yaml`, "utf8")
        .replaceAll("http://127.0.0.1:8080", server)
        .replaceAll("http://127.0.0.1:3000", grafana);
      expect(rule.spec).toEqual(parse(rules));
      expect(rule.metadata.labels).toMatchObject({ release: "kube-prometheus-stack" });
    }
    expect(rendered.EVERYTHING.objects.filter(({ kind }) => kind === "PrometheusRule")).toHaveLength(2);
  });

  it("has a ConfigMap for each dashboard, which Grafana's sidecar finds, far below the maximum size", () => {
    const { labels, annotations } = EVERYTHING.dashboards;
    const shown = rendered.EVERYTHING.objects.filter(({ metadata }) => metadata.labels?.["grafana_dashboard"] === "1");
    const files = readdirSync("deploy/grafana/dashboards");
    expect(shown).toHaveLength(files.length);
    for (const file of files) {
      const { data, metadata } = find<V1ConfigMap>(
        "EVERYTHING",
        "ConfigMap",
        file.replace("gpu-ledger", "gpu-ledger-dashboard").replace(".json", ""),
      );
      expect(data).toEqual({ [file]: readFileSync(join("deploy/grafana/dashboards", file), "utf8") });
      expect(metadata).toMatchObject({ labels, annotations });
      expect(JSON.stringify(data).length).toBeLessThan(2 ** 19);
    }
  });

  it("lets Prometheus scrape every part, and the joined series, with the holders' labels and the token", () => {
    for (const [name, holder] of [
      ["EVERYTHING", "processor"],
      ["SMALL_EVERYTHING", "small"],
    ] as const) {
      const { objects } = rendered[name];
      const monitor = (object: string) => SERVICE_MONITOR.parse(find(name, "ServiceMonitor", object)).spec;
      const services = objects.filter(({ kind }) => kind === "Service");
      const selected = (object: string): readonly string[] =>
        services.flatMap(({ metadata }) => {
          const { matchLabels } = monitor(object).selector;
          const isSelected = Object.entries(matchLabels).every(([key, value]) => metadata.labels?.[key] === value);
          return isSelected ? [metadata.labels!["app.kubernetes.io/component"]!] : [];
        });
      const parts = podsOf(rendered[name]).map((pod) => pod.name);
      expect(selected("gpu-ledger").toSorted()).toEqual(parts.toSorted());
      expect(selected("gpu-ledger-gpus")).toEqual([holder]);
      const authorization = { credentials: { name: "prometheus-token", key: "token" } };
      const endpoint = { port: "http", honorLabels: true, interval: "30s", authorization };
      expect(monitor("gpu-ledger").endpoints).toMatchObject([{ ...endpoint, path: "/metrics" }]);
      // Both pages of a pod need `up` series of their own.
      const relabelings = [{ targetLabel: "job", replacement: "gpu-ledger-gpus" }];
      expect(monitor("gpu-ledger-gpus").endpoints).toMatchObject([
        { ...endpoint, path: GPU_METRICS_PATH, relabelings },
      ]);
      for (const { metadata } of podsOf(rendered[name])) {
        expect(metadata.annotations).not.toHaveProperty("prometheus.io/scrape");
      }
    }
  });

  it("scales processors by the messages that wait on the bus, with KEDA or an HPA, and then has no number of replicas itself", () => {
    const { spec } = SCALED_OBJECT.parse(find("EVERYTHING", "ScaledObject", "gpu-ledger-processor"));
    expect(spec).toMatchObject({
      minReplicaCount: 3,
      maxReplicaCount: 6,
      scaleTargetRef: { name: "gpu-ledger-processor" },
    });
    expect(spec.triggers[0]).toMatchObject({
      metricType: "AverageValue",
      metadata: {
        query: 'sum(gpu_ledger_lag_messages{namespace="gpu-ledger",job="gpu-ledger-processor"})',
        threshold: "2000",
      },
    });
    const hpa = find<{ spec: unknown }>("OPENSHIFT", "HorizontalPodAutoscaler", "gpu-ledger-processor");
    expect(hpa.spec).toMatchObject({
      scaleTargetRef: { kind: "Deployment", name: "gpu-ledger-processor" },
      minReplicas: 2,
      maxReplicas: 8,
      metrics: [
        {
          external: {
            metric: { name: "gpu_ledger_lag_messages", selector: { matchLabels: { job: "gpu-ledger-processor" } } },
            target: { type: "AverageValue", averageValue: "5000" },
          },
        },
      ],
    });
    for (const name of ["EVERYTHING", "OPENSHIFT"] as const) {
      const { spec: processor } = find<{ spec: object }>(name, "Deployment", "gpu-ledger-processor");
      expect(processor).not.toHaveProperty("replicas");
    }
    // The default number of partitions is the highest useful number of processors.
    expect(configOf("OPENSHIFT", podsOf(rendered.OPENSHIFT)[0]!).bus.samplePartitions).toBe(8);
  });

  it("lets each part reach only what it needs", () => {
    const policy = (
      name: Case,
      part: string,
    ): { ingress: { from?: unknown }[]; egress: { ports: { port: number }[] }[] } =>
      find<{ spec: never }>(name, "NetworkPolicy", part).spec;
    const egress = (name: Case, part: string): readonly (readonly number[])[] =>
      policy(name, part).egress.map(({ ports }) => ports.map(({ port }) => port));
    const dns = [53, 53, 5353, 5353];
    expect(egress("EVERYTHING", "gpu-ledger-collector")).toEqual([dns, [9400, 443, 6443, 9093, 9094], [443]]);
    expect(egress("EVERYTHING", "gpu-ledger-processor")).toEqual([dns, [9093, 9094, 443], [443]]);
    expect(egress("EVERYTHING", "gpu-ledger-server")).toEqual([dns, [443], [443]]);
    expect(egress("OPENSHIFT", "gpu-ledger-processor")).toEqual([dns, [9092, 8123]]);
    expect(egress("SMALL_EVERYTHING", "gpu-ledger-small")).toEqual([dns, [9400, 443, 6443], [443]]);
    const { metricsFrom, serverFrom, remoteWriteFrom } = SMALL_EVERYTHING.networkPolicy;
    expect(policy("EVERYTHING", "gpu-ledger-collector").ingress).toEqual([
      { ports: [{ port: "http" }], from: metricsFrom },
      { ports: [{ port: 9095 }], from: remoteWriteFrom },
    ]);
    for (const [name, part] of [
      ["EVERYTHING", "gpu-ledger-server"],
      ["SMALL_EVERYTHING", "gpu-ledger-small"],
    ] as const) {
      expect(policy(name, part).ingress).toEqual([
        { ports: [{ port: "http" }], from: [...metricsFrom, ...serverFrom] },
      ]);
    }
    expect(policy("OPENSHIFT", "gpu-ledger-server").ingress).toEqual([{ ports: [{ port: "http" }] }]);
  });

  it("runs as nobody everywhere, and on OpenShift as the project's user", () => {
    for (const name of NAMES) {
      for (const { spec } of podsOf(rendered[name])) {
        const users = ["runAsUser", "runAsGroup", "fsGroup"].filter((key) => key in spec.securityContext!);
        expect(users).toHaveLength(name === "OPENSHIFT" ? 0 : 3);
        expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
        expect(spec.containers[0]!.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  it("runs the small form in one pod with a volume, which has the collectors' permissions", () => {
    const { spec } = find<{ spec: object }>("SMALL", "StatefulSet", "gpu-ledger");
    expect(spec).toMatchObject({
      replicas: 1,
      volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { resources: { requests: { storage: "50Gi" } } } }],
    });
    const [pod] = podsOf(rendered.SMALL);
    expect(pod!.spec.serviceAccountName).toBe("gpu-ledger-collector");
    expect(pod!.spec.containers[0]!.args!.slice(0, 1)).toEqual(["up"]);
    const rules = (name: Case): unknown => find<{ rules: unknown }>(name, "ClusterRole", "gpu-ledger-collector").rules;
    expect(rules("SMALL")).toEqual(rules("LEAST"));
    expect(rules("EVERYTHING")).toEqual([...(rules("LEAST") as object[]), ...EVERYTHING.rbac.extraRules]);
  });

  it("lets processors post Events about training runs if the configuration has them, and nothing else", async () => {
    const small = await renderChart({ ...SMALL, config: { ...SMALL.config, training: { events: true } } });
    for (const [of, part, account] of [
      [rendered.TRAINING_EVENTS, "processor", "gpu-ledger-processor"],
      [small, "small", "gpu-ledger-collector"],
    ] as const) {
      const granted = (kind: string): object => findIn(of, kind, "gpu-ledger-training-events");
      expect(granted("ClusterRole")).toMatchObject({
        rules: [{ apiGroups: [""], resources: ["events"], verbs: ["create"] }],
      });
      expect(granted("ClusterRoleBinding")).toMatchObject({ subjects: [{ name: account }] });
      expect(findIn(of, "ServiceAccount", account)).toBeDefined();
      const { spec } = podsOf(of).find(({ name }) => name === part)!;
      expect(spec).toMatchObject({ serviceAccountName: account });
    }
    const [, { ports }] = find<{ spec: { egress: [object, { ports: object[] }] } }>(
      "TRAINING_EVENTS",
      "NetworkPolicy",
      "gpu-ledger-processor",
    ).spec.egress;
    expect(ports).toEqual(expect.arrayContaining([{ port: 443 }, { port: 6443 }]));
    const processor = podsOf(rendered.TRAINING_EVENTS).find(({ name }) => name === "processor")!;
    expect(configOf("TRAINING_EVENTS", processor).kubernetes).toMatchObject({ clusters: [{}], labels: ["team"] });
    for (const name of ["LEAST", "SMALL", "EVERYTHING"] as const)
      expect(rendered[name].text).not.toContain("training-events");
  });

  it.each([
    ["an unknown key", { ...LEAST, colector: { replicas: 3 } }, /colector/],
    ["an unknown key inside a known one", { ...LEAST, collector: { replcas: 3 } }, /replcas/],
    ["a text where a number is required", { ...LEAST, server: { replicas: "3" } }, /replicas/],
    ["an unknown kind of scaling", { ...LEAST, processor: { scaling: { by: "vpa" } } }, /scaling/],
    ["a broker without a port", { ...LEAST, kafka: { brokers: ["kafka"] } }, /brokers/],
    ["no brokers", { clickhouse: LEAST.clickhouse }, /kafka\.brokers is empty: set some brokers/],
    [
      "no ClickHouse",
      { kafka: LEAST.kafka, clickhouse: { password: "a" } },
      /clickhouse\.url is empty: set the address/,
    ],
    ["no password", { ...LEAST, clickhouse: { url: "http://a" } }, /clickhouse\.password and .* are empty/],
    [
      "no password for Kafka",
      { ...LEAST, kafka: { ...LEAST.kafka, sasl: { mechanism: "plain" } } },
      /kafka\.sasl\.password/,
    ],
    ["the small form without a token", { mode: "small" }, /config\.server\.access\.tokens is empty: mode small needs/],
  ])("refuses %s, with a sentence", async (_, values, sentence) => {
    await expect(renderChart(values)).rejects.toThrow(sentence);
  });

  it("refuses a Kubernetes older than the oldest supported one", async () => {
    expect((await renderChart(LEAST, { kubernetes: `${OLDEST_KUBERNETES}.0` })).text).toBe(rendered.LEAST.text);
    await expect(renderChart(LEAST, { kubernetes: "1.24.17" })).rejects.toThrow(/requires kubeVersion: >=1\.25/);
  });

  it("contains what it needs and nothing else, and fits with its output into the Secret of a release", async () => {
    const path = await packageChart(join(folder.path, "package"));
    const files: string[] = [];
    await list({ file: path, onReadEntry: (entry) => files.push(entry.path.replace("gpu-ledger/", "")) });
    const kept = files.filter((file) => !file.startsWith("templates/"));
    expect(kept.toSorted()).toEqual(
      [
        ".helmignore",
        "Chart.yaml",
        "kubernetes/2-access.yaml",
        "prometheus/gpu-ledger-alerts.rules.yaml",
        "prometheus/gpu-ledger-recording.rules.yaml",
        "values.schema.json",
        "values.yaml",
        ...readdirSync("deploy/grafana/dashboards").map((file) => `grafana/dashboards/${file}`),
      ].toSorted(),
    );
    // Helm keeps chart and objects as JSON, with gzip and base64; a Secret holds 1 MiB.
    const bytes = statSync(path).size + gzipSync(rendered.EVERYTHING.text).length;
    expect((bytes * 4) / 3).toBeLessThan(2 ** 19);
  });

  it("is described in docs/install-cluster.md with valid values, and with the commands of its notes", async () => {
    const page = readFileSync("docs/install-cluster.md", "utf8");
    const blocks = Array.from(
      page.matchAll(/```yaml\n(# values\.yaml\n.*?)```/gs),
      ([, text]) => parse(text!) as object,
    );
    expect(blocks).toHaveLength(6);
    for (const values of blocks) expect((await renderChart({ ...LEAST, ...values })).objects).not.toEqual([]);
    const commands = (await notesOf(LEAST)).split("\n").filter((line) => line.startsWith("  "));
    expect(commands).toHaveLength(5);
    for (const line of commands) expect(page).toContain(line.slice(2));
  });

  /** The configuration that a pod would load from its mounted folder, with secrets that show their names. */
  const configOf = (name: Case, pod: Pod): Config => configIn(rendered[name], name, pod);

  async function collectorOf(values: object): Promise<Config> {
    const of = await renderChart({ ...LEAST, ...values });
    return configIn(
      of,
      "COLLECTOR",
      podsOf(of).find(({ name }) => name === "collector")!,
    );
  }

  function configIn(of: Rendered, name: string, pod: Pod): Config {
    const container = pod.spec.containers[0]!;
    const mounted = pod.spec.volumes!.find((volume) => volume.name === "config")!.configMap!.name!;
    const { data } = findIn<V1ConfigMap>(of, "ConfigMap", mounted);
    const place = join(folder.path, name, pod.name);
    mkdirSync(place, { recursive: true });
    for (const file of ["ca.crt", "tls.crt", "tls.key"]) writeFileSync(join(place, file), `of ${file}`);
    for (const [file, text] of Object.entries(data!)) {
      writeFileSync(join(place, file), text.replaceAll(/\/etc\/gpu-ledger-kafka\/\w+/g, place));
    }
    const env = Object.fromEntries(container.env!.map(({ name: variable }) => [variable, `of ${variable}`]));
    return loadConfig(join(place, "gpu-ledger.yaml"), env).config;
  }
});

function findIn<Value>({ objects }: Rendered, kind: string, name: string): Value {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found as Value;
}

function podsOf({ objects }: Rendered): readonly Pod[] {
  return objects.flatMap((object) => {
    const { spec } = object as { readonly spec?: { readonly template?: Omit<Pod, "name"> } };
    return spec?.template === undefined ? [] : [{ ...spec.template, name: spec.template.spec.containers[0]!.name }];
  });
}

function checksums(of: Rendered): Readonly<Record<string, string>> {
  return Object.fromEntries(podsOf(of).map(({ name, metadata }) => [name, metadata.annotations!["checksum/config"]!]));
}

/** Objects by their kind and name, without the chart's own labels, with parsed configurations. */
function comparable(objects: readonly ClusterObject[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    objects.map((object) => {
      const text = JSON.stringify(object, (key, value: unknown) => {
        if (OF_THE_CHART.includes(key)) return undefined;
        if (key === "gpu-ledger.yaml") return parse(value as string) as unknown;
        const isEmpty = key === "labels" && Object.keys(value as object).every((label) => OF_THE_CHART.includes(label));
        return isEmpty ? undefined : value;
      });
      return [`${object.kind} ${object.metadata.name}`, JSON.parse(text) as unknown];
    }),
  );
}
