import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import { makeSecrets } from "../../../cli/generate/secrets.ts";
import { GPU_METRICS_PATH } from "../../../services/gpu-metrics.ts";
import { readTargetGroups } from "../../../collectors/exporters/targets/group.ts";
import { CLICKHOUSE_PLUGIN } from "../../../dashboards/render/query.ts";
import { demoLedger } from "../../../demo/fleet/prices.ts";
import { ENGINE_NAMESPACES } from "../../../demo/serving/models.ts";
import { accessMode } from "../../../reports/access/mode.ts";
import { READER } from "../../../reports/access/reader-sql.ts";
import { parseConfig } from "../../../runtime/config/load.ts";
import type { Config } from "../../../runtime/config/schema.ts";
import { mountedFrom, readComposeFile } from "../../support/compose.ts";
import { temporaryFolder } from "../../support/folder.ts";

const COMPOSE = "deploy/compose";
const CONFIGS = ["gpu-ledger.yaml", "gpu-ledger-real.yaml"];
const { services } = readComposeFile();
const read = (name: string): string => readFileSync(`${COMPOSE}/${name}`, "utf8");
/** The address of each service for the others. */
const PORTS: Readonly<Record<string, string>> = {
  kafka: "9092",
  clickhouse: "8123",
  alertmanager: "9093",
  prometheus: "9090",
};
const portOf = (name: string): string | undefined =>
  services[name]?.image.startsWith("ghcr.io/gpu-ledger/gpu-ledger:") === true ? "8080" : PORTS[name];

/** A configuration as a container reads it, with generated secrets. */
function configOf(name: string): Config {
  const folder = temporaryFolder("stack");
  makeSecrets(folder);
  return parseConfig(read(name).replaceAll("/run/gpu-ledger", folder), { source: name, folder, env: {} });
}

describe("the stack's configurations", () => {
  it.each(CONFIGS)("%s uses the stack's own services, and its server requires a token", (name) => {
    const { bus, store, server, data } = configOf(name);
    const [broker, ...others] = bus.kafka!.brokers;
    expect([bus.kind, broker, others]).toEqual(["kafka", `kafka:${portOf("kafka")}`, []]);
    expect([bus.kafka!.replicationFactor, bus.kafka!.minInsyncReplicas]).toEqual([1, 1]);
    expect([store.kind, store.clickhouse!.url]).toEqual(["clickhouse", `http://clickhouse:${portOf("clickhouse")}`]);
    expect(store.clickhouse!.username).toBe(services["clickhouse"]!.environment!["CLICKHOUSE_USER"]);
    expect(server.listen).toBe(`0.0.0.0:${portOf("serve")}`);
    expect(server.metricsToken).toMatch(/^[\w-]{43}$/);
    const { tokens } = server.access;
    expect(tokens).toMatchObject([{ name: "administrator", role: "administrator" }]);
    expect(accessMode({ listen: server.listen, hasTokens: tokens.length > 0 })).toBe("tokens");
    expect(services["collect"]!.volumes).toContain(`collector:${data}`);
  });

  it("have the demo's exporters, its cluster and its prices, as `up` has them", () => {
    const config = configOf("gpu-ledger.yaml");
    expect(config).toMatchObject(demoLedger());
    expect(config.collector.jobs.flatMap(({ http }) => http.map(({ url }) => url))).toEqual([
      `http://demo:${portOf("demo")}/api/demo/targets`,
    ]);
    expect(config.collector.jobs.map(({ reads, kubernetes }) => [reads, kubernetes?.namespaces])).toEqual([
      ["gpus", undefined],
      ["serving", ENGINE_NAMESPACES],
    ]);
    expect(services["demo"]!.volumes).toContain(`demo:${config.data}`);
    expect(config.kubernetes.clusters).toMatchObject([{ kubeconfig: "/run/demo/demo-kubeconfig.json" }]);
    expect(services["collect"]!.volumes).toContain("demo:/run/demo:ro");
    expect(config.demo.listen).toBe("0.0.0.0");
    expect(CONFIGS.map((name) => configOf(name).server.demo)).toEqual([true, false]);
  });

  it("have a place for the user's own exporters", () => {
    const [job] = configOf("gpu-ledger-real.yaml").collector.jobs;
    const [path] = job!.files!.paths;
    expect(mountedFrom(services["collect-real"]!, path!)).toBe(`./${COMPOSE}/targets/exporters.yaml`);
  });

  it.each([
    ["exporters.yaml", ["http://10.0.0.11:9400/metrics", "http://10.0.0.12:9400/metrics"]],
    ["kube-state-metrics.yaml", ["http://10.0.0.10:8080/metrics"]],
  ])("have no target in %s, and a commented example", (name, urls) => {
    const text = read(`targets/${name}`);
    const defaults = { scheme: "http", port: 9400, path: "/metrics" } as const;
    expect(readTargetGroups(parse(text), defaults)).toEqual([]);
    const example = text.split("\n").flatMap((line) => /^# (- targets.*|  labels.*)$/.exec(line)?.[1] ?? []);
    expect(readTargetGroups(parse(example.join("\n")), defaults)).toMatchObject(
      urls.map((url) => ({ url, labels: { cluster: "prod" } })),
    );
  });

  it("have the broker at the address that the others use", () => {
    const settings = read("kafka/server.properties");
    expect(settings).toContain(`advertised.listeners=PLAINTEXT://kafka:${portOf("kafka")}\n`);
    const [, folder] = /^log\.dirs=(.*)$/m.exec(settings)!;
    expect(services["kafka"]!.volumes).toContain(`kafka:${folder}`);
    expect(services["kafka"]!.healthcheck!.test.at(-1)).toBe(portOf("kafka"));
  });
});

interface ScrapeJob {
  readonly job_name: string;
  readonly metrics_path?: string;
  readonly honor_labels?: boolean;
  readonly authorization?: { readonly credentials_file: string };
  readonly static_configs?: readonly { readonly targets: readonly string[] }[];
  readonly http_sd_configs?: readonly { readonly url: string }[];
  readonly dns_sd_configs?: readonly {
    readonly names: readonly string[];
    readonly type: string;
    readonly port: number;
  }[];
  readonly file_sd_configs?: readonly { readonly files: readonly string[] }[];
}

describe("the stack's Prometheus", () => {
  const { rule_files, alerting, scrape_configs } = parse(read("prometheus/prometheus.yaml")) as {
    readonly rule_files: readonly string[];
    readonly alerting: { readonly alertmanagers: readonly Pick<ScrapeJob, "static_configs">[] };
    readonly scrape_configs: readonly ScrapeJob[];
  };
  const targetsOf = ({
    static_configs = [],
    dns_sd_configs = [],
  }: Pick<ScrapeJob, "static_configs" | "dns_sd_configs">): readonly string[] => [
    ...static_configs.flatMap(({ targets }) => targets),
    ...dns_sd_configs.flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)),
  ];
  const isOurs = ({ job_name }: ScrapeJob): boolean => job_name.startsWith("gpu-ledger");
  const patternOf = (selector: string): RegExp => new RegExp(`^${/job=~"(.*)"/.exec(selector)![1]}$`);

  it("scrapes services at the ports on which they listen, with the token that they require", () => {
    const ours = scrape_configs.filter(isOurs);
    const asked = ours.flatMap(targetsOf);
    expect(asked).toEqual(["collect:8080", "process:8080", "serve:8080", "process:8080"]);
    for (const target of [...asked, ...alerting.alertmanagers.flatMap(targetsOf)]) {
      const [name, port] = target.split(":");
      expect([name, port]).toEqual([name, portOf(name!)]);
    }
    for (const { authorization, honor_labels } of ours)
      expect([authorization?.credentials_file, honor_labels]).toEqual(["/run/gpu-ledger/metrics-token", true]);
    expect(ours.map(({ metrics_path }) => metrics_path)).toEqual([undefined, GPU_METRICS_PATH]);
    expect(alerting.alertmanagers.flatMap(targetsOf)).toEqual(["alertmanager:9093"]);
  });

  it("finds the demo's exporters and cluster and the user's own, under the names that the rules use", () => {
    const { exporters, ledger } = DEFAULT_ALERT_OPTIONS.selectors;
    const found = scrape_configs.filter((job) => !isOurs(job));
    const named = (pattern: RegExp): readonly string[] =>
      found.map(({ job_name }) => job_name).filter((name) => pattern.test(name));
    expect(named(patternOf(exporters))).toEqual(["demo-dcgm-exporter", "dcgm-exporter"]);
    expect(named(/kube-state-metrics$/)).toEqual(["demo-kube-state-metrics", "kube-state-metrics"]);
    expect(
      found.flatMap(({ http_sd_configs = [], dns_sd_configs = [] }) => [...http_sd_configs, ...dns_sd_configs]),
    ).toEqual([
      {
        url: `http://demo:${portOf("demo")}/api/demo/targets`,
        authorization: { credentials_file: "/run/gpu-ledger/metrics-token" },
      },
      { names: ["demo"], type: "A", port: Number(portOf("demo")) },
    ]);
    const files = found.flatMap(({ file_sd_configs = [] }) => file_sd_configs.flatMap((each) => each.files));
    expect(files.map((path) => mountedFrom(services["prometheus"]!, path))).toEqual(
      ["exporters.yaml", "kube-state-metrics.yaml"].map((name) => `./${COMPOSE}/targets/${name}`),
    );
    expect(scrape_configs.filter(isOurs).map(({ job_name }) => patternOf(ledger).test(job_name))).toEqual([true, true]);
  });

  it("loads every file of our rules", () => {
    expect(rule_files.map((path) => mountedFrom(services["prometheus"]!, path))).toEqual([
      "./deploy/prometheus/*.rules.yaml",
    ]);
    expect(readdirSync("deploy/prometheus").filter((name) => name.endsWith(".rules.yaml"))).toHaveLength(2);
  });
});

describe("the stack's Grafana", () => {
  const grafana = services["grafana"]!;
  const provisioned = (name: string): unknown => parse(read(`grafana/provisioning/${name}`));
  const { datasources } = provisioned("datasources/datasources.yaml") as {
    readonly datasources: readonly {
      readonly type: string;
      readonly url?: string;
      readonly jsonData: Readonly<Record<string, unknown>>;
      readonly secureJsonData?: Readonly<Record<string, string>>;
    }[];
  };
  const sourceOf = (type: string) => datasources.find((each) => each.type === type)!;

  it("has one data source of each type that the dashboards use", () => {
    const files = readdirSync("deploy/grafana/dashboards").map((name) => `deploy/grafana/dashboards/${name}`);
    const variables = files.flatMap((file) => {
      const { templating } = JSON.parse(readFileSync(file, "utf8")) as {
        readonly templating: { readonly list: readonly { readonly type: string; readonly query: string }[] };
      };
      return templating.list.filter(({ type }) => type === "datasource").map(({ query }) => query);
    });
    const types = [...new Set(variables)];
    expect(types.toSorted()).toEqual(["grafana-clickhouse-datasource", "prometheus"]);
    for (const type of types) expect(datasources.filter((each) => each.type === type)).toHaveLength(1);
  });

  it("uses the stack's own services, and the store as the reader with the generated password", () => {
    for (const [type, name] of [
      ["prometheus", "prometheus"],
      ["alertmanager", "alertmanager"],
    ] as const)
      expect(sourceOf(type).url).toBe(`http://${name}:${portOf(name)}`);
    const { jsonData, secureJsonData } = sourceOf("grafana-clickhouse-datasource");
    expect(jsonData).toMatchObject({
      host: "clickhouse",
      port: Number(portOf("clickhouse")),
      protocol: "http",
      username: READER,
      defaultDatabase: configOf("gpu-ledger.yaml").store.database,
    });
    const [command, option, file] = services["migrate"]!.command!;
    expect([command, option]).toEqual(["migrate", "--reader-password"]);
    expect(secureJsonData).toEqual({ password: `$__file{${file}}` });
  });

  it("has every dashboard, and the plugin in the release for which they are made", () => {
    const { providers } = provisioned("dashboards/dashboards.yaml") as {
      readonly providers: readonly { readonly options: { readonly path: string } }[];
    };
    expect(providers.map(({ options }) => mountedFrom(grafana, options.path))).toEqual(["./deploy/grafana/dashboards"]);
    const home = mountedFrom(grafana, grafana.environment!["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]!);
    expect(readdirSync("deploy/grafana/dashboards")).toContain(basename(home));
    expect(grafana.environment!["GF_PLUGINS_PREINSTALL_SYNC"]).toBe(
      `grafana-clickhouse-datasource@${CLICKHOUSE_PLUGIN}`,
    );
  });
});
