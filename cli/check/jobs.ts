import { counted } from "../../domain/counted.ts";
import type { ScrapeJob } from "../../collectors/exporters/collector-model.ts";
import { createConnections, type Connections } from "../../collectors/exporters/http/connections.ts";
import { createAuthorization } from "../../collectors/exporters/http/credentials.ts";
import { fetchTarget, type MissedCompanion } from "../../collectors/exporters/http/fetch-target.ts";
import { createReceiveBuffers, type ReceiveBuffers } from "../../collectors/exporters/http/receive-buffers.ts";
import { inspectPage } from "../../collectors/exporters/inspect.ts";
import { nodeOf, type Discovery, type RefusedPod, type Target } from "../../collectors/exporters/targets/target.ts";
import { lackingAlerts, type LackingAlert } from "../../alerts/exporter/lacking.ts";
import { errorText } from "../context.ts";
import type { Finding } from "./finding.ts";
import { checkServingPage } from "./serving-page.ts";

/** A discovered target, and the node of its rows. */
export interface FoundTarget {
  /** Absent if no label and no job names one. Then the configuration's cluster is valid. */
  readonly cluster: string | undefined;
  /** Absent if only the page contains it, and the page was not read. */
  readonly node: string | undefined;
  /** The number of GPUs on its page; absent if the page was not read. */
  readonly gpus?: number;
}

const DISCOVERY_MILLIS = 5_000;
const MOST_TARGETS = 50;
const MOST_REFUSED = 10;

/** Checks a job's discoveries and the first of the discovered targets. Returns all targets of GPU exporters. */
export async function* checkJob(job: ScrapeJob): AsyncGenerator<Finding, readonly FoundTarget[]> {
  const targets: Target[] = [];
  for (const discovery of job.discoveries) {
    const what = `job ${job.name}, ${discovery.name}`;
    const found = await discover(discovery);
    if (found instanceof Error) yield { ok: false, what, answer: errorText(found) };
    else {
      targets.push(...found.targets);
      yield { ok: true, what, answer: counted(found.targets.length, "target") };
      for (const { namespace, name, detail } of found.refused.slice(0, MOST_REFUSED))
        yield {
          ok: false,
          what,
          answer: `pod ${namespace}/${name} has the labels of a target and is not scraped: it ${detail}`,
        };
      const further = found.refused.length - MOST_REFUSED;
      if (further > 0) yield { ok: false, what, answer: `${further} more pods are not scraped` };
    }
  }
  const read = new Map<Target, { readonly node: string; readonly gpus: number }>();
  const connections = createConnections(job);
  const buffers = createReceiveBuffers();
  for (const target of targets.slice(0, MOST_TARGETS)) {
    const { finding, page, lacking = [], missed = [] } = await checkTarget(job, target, connections, buffers);
    if (page !== undefined) read.set(target, page);
    yield finding;
    for (const { url, reason, detail } of missed)
      yield { ok: false, what: `job ${job.name}, companion ${url}`, answer: `${reason}: ${detail}` };
    if (lacking.length > 0) yield tellLacking(finding.what, lacking);
  }
  connections.close();
  if (targets.length > MOST_TARGETS) {
    const answer = `${targets.length - MOST_TARGETS} more targets were not checked`;
    yield { ok: true, what: `job ${job.name}`, answer };
  }
  if (job.reads.kind === "serving") return [];
  return targets.map((target) => ({
    cluster: target.labels["cluster"],
    node: hasKnownNode(target) ? nodeOf(target, []) : undefined,
    ...read.get(target),
  }));
}

interface Found {
  readonly targets: readonly Target[];
  readonly refused: readonly RefusedPod[];
}

async function discover(discovery: Discovery): Promise<Found | Error> {
  const found = await new Promise<Found | Error>((resolve) => {
    const timer = setTimeout(
      () => resolve(new Error(`no answer within ${DISCOVERY_MILLIS / 1_000} s`)),
      DISCOVERY_MILLIS,
    );
    const settle = (answer: Found | Error): void => (clearTimeout(timer), resolve(answer));
    discovery.start((targets, refused) => settle({ targets, refused }), settle);
  });
  await discovery.stop();
  return found;
}

/** Returns true if a target's node is known without its page. */
function hasKnownNode({ labels, pod }: Target): boolean {
  return pod !== undefined || (labels["node"] ?? "") !== "";
}

async function checkTarget(
  job: ScrapeJob,
  target: Target,
  connections: Connections,
  buffers: ReceiveBuffers,
): Promise<{
  readonly finding: Finding;
  readonly page?: { readonly node: string; readonly gpus: number };
  readonly lacking?: readonly LackingAlert[];
  readonly missed?: readonly MissedCompanion[];
}> {
  const request = { ...job, authorization: createAuthorization(job.credentials) };
  const what = `job ${job.name}, ${target.url}`;
  const failed = ({ reason, detail }: { readonly reason: string; readonly detail: string }): { finding: Finding } => ({
    finding: { ok: false, what, answer: `${reason}: ${detail}` },
  });
  const { answer, missed } = await fetchTarget(connections, buffers, target, request);
  if ("reason" in answer) return failed(answer);
  if (job.reads.kind === "serving") {
    const finding = checkServingPage(what, answer, target, job.reads.tenants);
    answer.release();
    return { finding };
  }
  const inspection = inspectPage(answer.page, answer.complete);
  answer.release();
  if ("reason" in inspection) return failed(inspection);
  const { exporter, devices, drops } = inspection;
  const given = new Set(devices.flatMap(({ values, unknown }) => [...Object.keys(values), ...Object.keys(unknown)]));
  const pages = (target.companions?.length ?? 0) - missed.length;
  const beside = pages === 0 ? "" : `, with ${pages} companion${pages === 1 ? "" : "s"}`;
  return {
    missed,
    lacking: devices.length === 0 ? [] : lackingAlerts(given),
    page: {
      node: nodeOf(
        target,
        devices.map(({ device }) => device),
      ),
      gpus: devices.filter(({ device }) => device.repeatsGpu !== true).length,
    },
    finding: {
      ok: true,
      what,
      answer: `${exporter}, ${counted(devices.length, "device")}, ${counted(drops.length, "line")} left out${beside}`,
    },
  };
}

/** Returns a warning about missing counters. It is not a failure, because charges do not depend on alerts. */
function tellLacking(what: string, lacking: readonly LackingAlert[]): Finding {
  const counters = [...new Set(lacking.map(({ counter }) => counter))];
  const lines = counters.map((counter) => {
    const alerts = lacking.filter((each) => each.counter === counter).map(({ alert }) => alert);
    return `${counter} (${alerts.join(", ")})`;
  });
  const answer = `alerts cannot work without these counters: ${lines.join("; ")}. \`gpu-ledger generate exporter-config\` writes a counter file`;
  return { ok: true, warns: true, what, answer };
}
