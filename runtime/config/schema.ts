import { z } from "zod";
import { access } from "./access.ts";
import { advice } from "./advice.ts";
import { proxySignIn, signIn } from "./sign-in.ts";
import { between } from "./between.ts";
import { checkWebhookHosts, deliveriesCheck, deliveries, webhook } from "./deliveries.ts";
import { focus } from "./focus.ts";
import { invoices, invoicesCheck } from "./invoices.ts";
import { checkJobs, clientTls, job } from "./jobs.ts";
import { kubernetes } from "./kubernetes.ts";
import { LEDGER_CHECKS, ledgerKeys } from "./ledger.ts";
import { practices } from "./practices.ts";
import { duration, size } from "./quantity.ts";
import { remoteWrite } from "./remote-write.ts";
import { oneCredential, prometheusServer } from "./prometheus-server.ts";
import { serverTls } from "./server-tls.ts";
import { metrics, tracing } from "./telemetry.ts";
import { training } from "./training.ts";
import {
  flag,
  list,
  listenAddress,
  network,
  oneOf,
  secret,
  text,
  webAddress,
  whole,
  type ConfigSources,
} from "./words.ts";

const collector = (sources: ConfigSources) =>
  z.strictObject({
    name: text("a name")
      .default(sources.env["HOSTNAME"] ?? "collector")
      .describe("This collector's name in messages."),
    interval: duration("1s", "1h").prefault("30s").describe("How often each target is scraped."),
    timeout: duration("100ms", "10m").prefault("10s").describe("The longest time of one scrape, with redirects."),
    bodyLimit: size("1kB", "1GB").prefault("32MB").describe("The largest page that is read."),
    seriesLimit: whole(1, 10_000_000).default(100_000).describe("The maximum number of series of one page."),
    deviceLimit: whole(1, 1_000_000)
      .default(10_000)
      .describe("The maximum number of GPUs, instances and holders of shared GPUs of one page."),
    tenantLimit: whole(1, 1_000_000)
      .default(10_000)
      .describe(
        "The maximum number of tenants of a gateway. The tokens of further tenants count for the tenant `other`.",
      ),
    templates: size("0B", "64GB").prefault("256MB").describe("Memory for the common parts of consecutive pages."),
    jobs: list(job(sources))
      .default([])
      .describe("The groups of targets to scrape. Without a job, `up` starts the demo fleet."),
    remoteWrite: remoteWrite(sources)
      .optional()
      .describe("A port for Prometheus remote write. Default: none. See docs/remote-write.md."),
  });

const bus = (sources: ConfigSources) =>
  z.strictObject({
    kind: oneOf("embedded", "kafka").default("embedded").describe("A log in the data folder, or a Kafka cluster."),
    samplePartitions: whole(1, 10_000)
      .default(8)
      .describe("Partitions of gpu.samples and of gpu.serving. The number cannot change later."),
    retention: duration("1h", "52w").prefault("2d").describe("How long samples stay on the bus."),
    retentionSize: size("1MB", "100TB")
      .prefault("2GB")
      .describe("The bytes of samples that stay on the bus, per partition."),
    spool: size("1MB", "10TB")
      .prefault("2GB")
      .describe("The bytes that the collector keeps on disk while Kafka is away."),
    kafka: z
      .strictObject({
        brokers: list(text("host:port")).describe("Some brokers of the cluster."),
        clientId: text("a name").default("gpu-ledger"),
        replicationFactor: whole(1, 15).default(3).describe("The value for topics that gpu-ledger creates."),
        minInsyncReplicas: whole(1, 15).default(2).describe("The value for topics that gpu-ledger creates."),
        compression: oneOf("none", "gzip", "lz4").default("lz4"),
        session: duration("6s", "5m")
          .prefault("30s")
          .describe("The time until other processors take the partitions of a crashed processor."),
        tls: clientTls(sources).optional(),
        sasl: z
          .strictObject({
            mechanism: oneOf("plain", "scram-sha-256", "scram-sha-512"),
            username: text("a user name"),
            password: secret(sources),
          })
          .optional(),
      })
      .optional()
      .describe("Needed with kind: kafka."),
  });

const store = (sources: ConfigSources) =>
  z.strictObject({
    kind: oneOf("embedded", "clickhouse")
      .default("embedded")
      .describe("chDB in the data folder, or a ClickHouse server."),
    port: whole(0, 65_535).default(0).describe("The embedded store's port on 127.0.0.1; 0 lets the system choose."),
    database: text("a database's name").default("gpu_ledger"),
    rawDays: whole(2, 3650).default(40).describe("Days that raw rows are kept."),
    fiveMinuteDays: whole(2, 3650).default(90).describe("Days that 5-minute rows are kept."),
    clickhouse: z
      .strictObject({
        url: webAddress,
        username: text("a user name").default("default"),
        password: secret(sources).optional(),
        cluster: text("a cluster's name").optional().describe("Creates replicated tables on this cluster."),
      })
      .optional()
      .describe("Needed with kind: clickhouse."),
  });

const processor = z.strictObject({
  flushEvery: duration("100ms", "5m").prefault("8s").describe("The longest time that rows wait for an insert."),
  flushRows: whole(1, 1_000_000).default(20_000).describe("The number of rows that start an insert immediately."),
});

const server = (sources: ConfigSources) =>
  z
    .strictObject({
      listen: listenAddress.default("127.0.0.1:8080").describe("The address of the server."),
      tls: serverTls(sources)
        .optional()
        .describe("TLS on the port, as in tls_server_config of Prometheus. Default: HTTP. See docs/access.md."),
      plainHttp: flag
        .default(false)
        .describe(
          "Allows HTTP without TLS on an address that other machines can reach. Tokens then cross the network in clear text.",
        ),
      moneyOnMetrics: flag
        .default(true)
        .describe(
          "Adds the cost of pods, GPUs and teams, and the savings of the advice, to `/metrics`, `/metrics/gpu` and `/api/status`. All readers of these pages see it.",
        ),
      metricsToken: secret(sources)
        .optional()
        .describe(
          "The bearer token for `/metrics`, `/metrics/gpu` and `/api/status`. Without it, only administrators can read them if there are tokens.",
        ),
      trustProxy: list(network)
        .default([])
        .describe(
          "Trusted proxies. Only from them the server accepts X-Forwarded-For and X-Forwarded-Proto as the client of a request.",
        ),
      connectionsPerAddress: whole(1, 100_000)
        .default(600)
        .describe(
          "The connections of an address to a port, remote write included. Above it, a new one ends the one that has waited the longest. Proxies in trustProxy have no limit.",
        ),
      prometheus: z
        .strictObject(prometheusServer(sources))
        .superRefine(oneCredential)
        .optional()
        .describe("The Prometheus with the alert rules, whose firing alerts pages show. Default: none."),
      demo: flag.default(false).describe("Marks every page of `serve` as a demo fleet. `up` sets this itself."),
      access: access(sources).prefault({}).describe("Access to reports. See docs/access.md."),
      signIn: signIn(sources).optional().describe("Sign-in with OpenID Connect. Default: none."),
      proxySignIn: proxySignIn.optional().describe("Sign-in by a proxy such as oauth2-proxy. Default: none."),
    })
    .superRefine((given, context) => {
      if ((given.signIn ?? given.proxySignIn) === undefined || given.access.groups.length > 0) return;
      const message = "at least one rule, because people sign in";
      context.addIssue({ code: "custom", path: ["access", "groups"], message });
    })
    .prefault({});

const demo = z
  .strictObject({
    enabled: flag
      .default(true)
      .describe("`up` starts the demo fleet if there is nothing to scrape or to watch. False for imports alone."),
    gpus: whole(8, 100_000).default(96).describe("GPUs of the demo fleet."),
    seed: whole(0, 2 ** 31)
      .default(1)
      .describe("The same seed gives the same fleet."),
    history: duration("0s", "40d")
      .prefault("8d")
      .describe(
        "The length of the history that the demo sends at its start. With `up` and from a day on, the time since the beginning of the last month that can be closed follows, with one sample an hour, and that month is closed.",
      ),
    listen: text("an address of this machine")
      .default("127.0.0.1")
      .describe(
        "The address of the demo's exporters, of its engines and of its API server. Use 0.0.0.0 in a container.",
      ),
  })
  .prefault({});

/** Returns the schema of the whole configuration. Every key has a default, except the keys of an external Kafka or ClickHouse. */
export function createConfigSchema(sources: ConfigSources) {
  return z
    .strictObject({
      cluster: text("a cluster's name").default("default").describe("The cluster of targets without a cluster."),
      data: text("a folder")
        .default(".gpu-ledger")
        .describe("The folder for the files of the embedded bus, the embedded store and the spool."),
      log: z
        .strictObject({
          level: oneOf("trace", "debug", "info", "warn", "error").default("info"),
        })
        .prefault({}),
      collector: collector(sources).prefault({}),
      bus: bus(sources).prefault({}),
      store: store(sources).prefault({}),
      kubernetes: kubernetes(sources).prefault({}),
      ...ledgerKeys(sources),
      advice,
      focus,
      practices,
      training: training(sources),
      act: z
        .strictObject({
          webhook: webhook(sources).optional().describe("Receives cards of `gpu-ledger act --dry-run --post`."),
        })
        .prefault({})
        .describe("The handing over of cards. See docs/advice.md."),
      invoices: invoices(sources),
      deliveries: deliveries(sources),
      webhookHosts: list(text("a host, or *.domain"))
        .optional()
        .describe("The hosts of webhooks. Webhooks of other hosts are refused. Default: any host."),
      processor: processor.prefault({}),
      server: server(sources),
      tracing,
      metrics,
      demo,
    })
    .check(
      ...LEDGER_CHECKS,
      deliveriesCheck,
      invoicesCheck,
      between([["deliveries"], ["act"], ["webhookHosts"]], checkWebhookHosts),
      between([["bus"]], ({ bus: { kind, kafka } }: WithParts, context) => {
        if (kind === "kafka" && kafka === undefined)
          context.addIssue({ code: "custom", path: ["bus", "kafka"], message: "brokers, because bus.kind is kafka" });
      }),
      between(
        [
          ["store", "kind"],
          ["store", "clickhouse"],
        ],
        ({ store: { kind, clickhouse } }: WithParts, context) => {
          const message = "url, because store.kind is clickhouse";
          if (kind === "clickhouse" && clickhouse === undefined)
            context.addIssue({ code: "custom", path: ["store", "clickhouse"], message });
        },
      ),
      between([["collector"]], checkJobs),
    );
}

/** The parts of a configuration that the checks between keys read. */
interface WithParts {
  readonly collector: z.output<ReturnType<typeof collector>>;
  readonly bus: z.output<ReturnType<typeof bus>>;
  readonly store: z.output<ReturnType<typeof store>>;
}

/** The configuration that the program uses: durations in milliseconds, sizes in bytes, files and secrets already read. */
export type Config = z.output<ReturnType<typeof createConfigSchema>>;

/** Returns a JSON Schema (draft 2020-12) of the configuration file, for editors. */
export function configJsonSchema(): object {
  const schema = createConfigSchema({ env: {}, readFile: () => "", resolvePath: (path) => path });
  return { title: "gpu-ledger's configuration", ...z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) };
}
