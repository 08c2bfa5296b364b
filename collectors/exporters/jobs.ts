import { systemClock } from "../../runtime/clock.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { createKubeAccess } from "../kubernetes/api/access.ts";
import { createApiConnection } from "../kubernetes/api/connection.ts";
import { createKubernetesDiscovery } from "../kubernetes/discovery.ts";
import {
  EXPORTER_NAMESPACES,
  EXPORTER_SELECTORS,
  SERVING_SELECTORS,
  type PodSelector,
} from "../kubernetes/selectors.ts";
import type { ScrapeJob } from "./collector-model.ts";
import { createAuthorization, type Credentials } from "./http/credentials.ts";
import type { TlsOptions } from "./http/connections.ts";
import { createDnsDiscovery } from "./targets/dns.ts";
import { createFileDiscovery } from "./targets/files.ts";
import { createHttpDiscovery } from "./targets/http.ts";
import { createStaticDiscovery } from "./targets/static.ts";
import { toUrl, type Discovery, type Target } from "./targets/target.ts";

type JobConfig = Config["collector"]["jobs"][number];

/** Creates the jobs of a configuration. Throws with a sentence if an address is invalid. */
export function createJobs({ collector }: Config): ScrapeJob[] {
  return collector.jobs.map((job) => {
    const credentials = definedOnly(job.credentials) as Credentials;
    return {
      name: job.name,
      reads:
        job.reads === "gpus"
          ? { kind: "gpus" }
          : {
              kind: "serving",
              tenants: {
                labels: job.tenant,
                gateways: gatewaysOf(job),
                allowEmails: job.allowEmails,
                most: collector.tenantLimit,
              },
            },
      intervalMillis: job.interval ?? collector.interval,
      timeoutMillis: job.timeout ?? collector.timeout,
      bodyLimitBytes: collector.bodyLimit,
      gzip: job.gzip,
      redirects: job.redirects,
      credentials,
      tls: job.tls === undefined ? undefined : (definedOnly(job.tls) as TlsOptions),
      discoveries: discoveriesOf(job, credentials).map((discovery) => withLabels(discovery, job.labels)),
    };
  });
}

/** Returns the namespaces whose pods may be gateways: by default those of the job, and none if it reads pods of any namespace. */
function gatewaysOf({ kubernetes }: JobConfig): readonly string[] {
  if (kubernetes === undefined) return [];
  const { gateways, namespaces = [], exporters = [] } = kubernetes;
  if (gateways !== undefined) return gateways;
  const named = [...namespaces, ...exporters.flatMap((selector) => selector.namespaces ?? [])];
  return named.includes("*") ? [] : named;
}

/** The defaults of each kind of pages. Engines run in the namespaces of their owners, so their job has the namespaces itself. */
const DEFAULTS: Readonly<
  Record<
    JobConfig["reads"],
    { readonly port: number; readonly namespaces: readonly string[]; readonly selectors: readonly PodSelector[] }
  >
> = {
  gpus: { port: 9400, namespaces: EXPORTER_NAMESPACES, selectors: EXPORTER_SELECTORS },
  serving: { port: 8000, namespaces: [], selectors: SERVING_SELECTORS },
};

function discoveriesOf(job: JobConfig, credentials: Credentials): Discovery[] {
  const usual = DEFAULTS[job.reads];
  const { scheme, port = usual.port, path } = job;
  const defaults = { scheme, port, path };
  const discoveries: Discovery[] = [];
  if (job.targets.length > 0) {
    const targets = job.targets.map((target) =>
      typeof target === "string"
        ? { url: toUrl(target, defaults), labels: {} }
        : { url: toUrl(target.address, defaults), labels: target.labels },
    );
    discoveries.push(createStaticDiscovery(targets));
  }
  if (job.files !== undefined) {
    discoveries.push(createFileDiscovery({ files: job.files.paths, refreshMillis: job.files.refresh, defaults }));
  }
  for (const { url, refresh, credentials: own } of job.http) {
    const authorization = createAuthorization(own === undefined ? credentials : definedOnly(own));
    discoveries.push(
      createHttpDiscovery({ url, refreshMillis: refresh, timeoutMillis: 10_000, authorization, defaults }),
    );
  }
  if (job.kubernetes !== undefined) {
    const { kubeconfig, context, namespaces = usual.namespaces, exporters } = job.kubernetes;
    const selectors =
      exporters?.map((selector) => ({ ...selector, port: selector.port ?? usual.port })) ?? usual.selectors;
    const access = createKubeAccess(definedOnly({ file: kubeconfig, context }));
    discoveries.push(
      createKubernetesDiscovery({
        name: `kubernetes ${context ?? ""}`.trim(),
        api: createApiConnection(access, systemClock),
        reads: job.reads,
        selectors,
        namespaces,
        scheme,
        path,
      }),
    );
  }
  for (const { names, type, refresh } of job.dns) {
    discoveries.push(createDnsDiscovery({ names, type, refreshMillis: refresh, defaults }));
  }
  return discoveries;
}

/** Adds a job's labels to its targets. A target's own labels take precedence. */
function withLabels(discovery: Discovery, labels: Readonly<Record<string, string>>): Discovery {
  const labeled = (target: Target): Target => ({ ...target, labels: { ...labels, ...target.labels } });
  return {
    ...discovery,
    start: (onTargets, onError) =>
      discovery.start((targets, refused) => onTargets(targets.map(labeled), refused), onError),
  };
}

function definedOnly(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
