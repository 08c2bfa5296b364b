import { z } from "zod";
import { duration } from "./quantity.ts";
import {
  fileText,
  flag,
  list,
  oneOf,
  secret,
  targetAddress,
  text,
  webAddress,
  whole,
  type ConfigSources,
} from "./words.ts";

/** Returns the schema of TLS towards another server. */
export const clientTls = (sources: ConfigSources) =>
  z.strictObject({
    ca: fileText(sources).optional().describe("File with the certificates to trust, in PEM."),
    cert: fileText(sources).optional().describe("File with our own certificate, in PEM."),
    key: fileText(sources).optional().describe("File with our own key, in PEM."),
    serverName: text("a host name").optional().describe("The expected name in the server's certificate."),
    insecureSkipVerify: flag.default(false).describe("Trust any certificate. For trials only."),
  });

const credentials = (sources: ConfigSources) =>
  z
    .strictObject({
      basic: z
        .strictObject({ username: text("a user name"), password: secret(sources) })
        .optional()
        .describe("HTTP basic authentication."),
      bearerToken: secret(sources).optional().describe("A token that does not change."),
      bearerTokenFile: text("a path")
        .optional()
        .describe("A file with a token that rotates. It is read before each request."),
    })
    .refine((given) => Object.values(given).filter((way) => way !== undefined).length <= 1, {
      error: "one of basic, bearerToken and bearerTokenFile",
    });

const labels = z.record(z.string(), z.string({ error: "a text" }), { error: "labels: name: value" });

const podsWithPages = z.strictObject({
  labels: text("a label selector"),
  namespaces: list(text("a namespace, or * for any")).optional().describe("Overrides the namespaces of the job."),
  port: whole(1, 65_535)
    .optional()
    .describe("The port, if the pod's annotations and ports have none. Default: 9400, with reads: serving 8000."),
  portName: text("the name of a port")
    .optional()
    .describe("The name of the container port with the page. Pods without it are left out."),
  path: text("a path such as /metrics").optional().describe("Overrides the path of the job."),
  scheme: oneOf("http", "https").optional().describe("Overrides the scheme of the job."),
  companion: z
    .boolean()
    .default(false)
    .describe("Reads their pages together with the page of their node's exporter, as for HAMi's monitor."),
});

const podDiscovery = z
  .strictObject({
    kubeconfig: text("a file")
      .optional()
      .describe("Default: KUBECONFIG, ~/.kube/config, or the service account of the program's own pod."),
    context: text("a context's name").optional().describe("A context of the kubeconfig. Default: its current context."),
    namespaces: list(text("a namespace, or * for any"))
      .optional()
      .describe(
        "The namespaces of the pods. Pods with their labels in other namespaces are refused. Default: the namespaces of the usual charts and operators of exporters. Required with reads: serving.",
      ),
    gateways: list(text("a namespace, or * for any"))
      .optional()
      .describe(
        "With reads: serving, the namespaces whose pods may be gateways, which name the tenants of models. Default: the namespaces of the pods, or none if these are any.",
      ),
    exporters: list(podsWithPages)
      .optional()
      .describe("The pods with pages. Default: the pods of the usual charts and operators."),
  })
  .optional()
  .describe("The current pods of exporters, or of engines and gateways, in a Kubernetes cluster.");

/** Returns the schema of a job: a group of targets with the same discovery and credentials. */
export const job = (sources: ConfigSources) =>
  z
    .strictObject({
      name: text("a name").describe("The job's name, in metrics and logs."),
      reads: oneOf("gpus", "serving")
        .default("gpus")
        .describe("The pages of GPU exporters, or of inference engines and gateways. See docs/serving.md."),
      interval: duration("1s", "1h").optional().describe("Overrides the interval of the collector."),
      timeout: duration("100ms", "10m").optional().describe("Overrides the timeout of the collector."),
      scheme: oneOf("http", "https").default("http").describe("The scheme of addresses without a scheme."),
      port: whole(1, 65_535)
        .optional()
        .describe("The port of addresses without a port. Default: 9400, with reads: serving 8000."),
      path: text("a path such as /metrics").default("/metrics").describe("The path of addresses without a path."),
      gzip: flag.default(false).describe("Ask for gzip. Costs more CPU than it saves on a local network."),
      redirects: oneOf("origin", "host")
        .default("origin")
        .describe("The redirects that are followed: of a target's origin, or of any port and scheme of its host."),
      labels: labels
        .default({})
        .describe(
          "Labels of all targets of the job. `cluster` and `node` have a meaning; with reads: serving also `namespace`, `pod` and `pod_uid`.",
        ),
      targets: list(
        z.union([targetAddress, z.strictObject({ address: targetAddress, labels: labels.default({}) })], {
          error: "an address, or { address, labels }",
        }),
      )
        .default([])
        .describe("Static targets."),
      files: z
        .strictObject({
          paths: list(text("a path, * allowed in its last part")),
          refresh: duration("1s", "1h").prefault("30s"),
        })
        .optional()
        .describe("Prometheus file_sd files, JSON or YAML."),
      http: list(
        z.strictObject({
          url: webAddress,
          refresh: duration("1s", "1h").prefault("1m"),
          credentials: credentials(sources)
            .optional()
            .describe("The credentials for this URL. Default: the credentials of the job."),
        }),
      )
        .default([])
        .describe("Prometheus HTTP service discovery."),
      kubernetes: podDiscovery,
      dns: list(
        z.strictObject({
          names: list(text("a domain name")),
          type: oneOf("A", "AAAA", "SRV").default("SRV"),
          refresh: duration("1s", "1h").prefault("30s"),
        }),
      )
        .default([])
        .describe("A target for each address that a name server returns."),
      tenant: list(text("a label's name"))
        .optional()
        .describe(
          "With reads: serving, the labels of gateways with the tenant; the first one with a value counts. Default: a list for each gateway.",
        ),
      allowEmails: flag
        .default(false)
        .describe("Keeps tenants that look like e-mail addresses. By default their tokens count without a tenant."),
      credentials: credentials(sources).default({}).describe("The credentials for the targets."),
      tls: clientTls(sources).optional().describe("For https targets."),
    })
    .describe("A group of targets with the same discovery and credentials.");

/** The parts of a configuration that {@link checkJobs} reads. */
interface WithJobs {
  readonly collector: {
    readonly jobs: readonly z.output<ReturnType<typeof job>>[];
    readonly interval: number;
    readonly timeout: number;
  };
}

/** Reports problems between the keys of jobs. */
export function checkJobs({ collector: { jobs, interval, timeout } }: WithJobs, context: z.RefinementCtx): void {
  jobs.forEach((each, index) => {
    const complain = (key: string, message: string): void =>
      context.addIssue({ code: "custom", path: ["collector", "jobs", index, key], message });
    if ((each.timeout ?? timeout) > (each.interval ?? interval))
      complain("timeout", "a timeout that is not longer than the interval");
    if (jobs.findIndex(({ name }) => name === each.name) < index) complain("name", "a name that no other job has");
    const { namespaces = [], exporters = [] } = each.kubernetes ?? {};
    const isEverywhereNamed = exporters.length > 0 && exporters.every((selector) => selector.namespaces !== undefined);
    if (each.reads === "serving" && each.kubernetes !== undefined && namespaces.length === 0 && !isEverywhereNamed)
      complain(
        "kubernetes",
        'namespaces of engines and gateways, or ["*"] for any: they run where their owners run them',
      );
    if (each.reads === "gpus" && each.tenant !== undefined)
      complain("tenant", "no labels of tenants, because only gateways have tenants: reads: serving");
    if (each.reads === "gpus" && each.kubernetes?.gateways !== undefined)
      complain("kubernetes", "no namespaces of gateways, because only gateways have tenants: reads: serving");
    const hasCredentials = Object.values(each.credentials).some((way) => way !== undefined);
    if (hasCredentials && [namespaces, ...exporters.map((selector) => selector.namespaces ?? [])].flat().includes("*"))
      complain("kubernetes", "names of namespaces without *, because the job has credentials that any pod could read");
  });
}
