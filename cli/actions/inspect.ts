import { readFile } from "node:fs/promises";
import { createConnections } from "../../collectors/exporters/http/connections.ts";
import { createAuthorization } from "../../collectors/exporters/http/credentials.ts";
import { fetchPage } from "../../collectors/exporters/http/fetch-page.ts";
import { createReceiveBuffers } from "../../collectors/exporters/http/receive-buffers.ts";
import { inspectPage, type Inspection, type Uninspected } from "../../collectors/exporters/inspect.ts";
import { inspectServingPage, type ServingInspection } from "../../collectors/exporters/serving/inspect.ts";
import { TENANT_RULES } from "../../collectors/exporters/serving/tenants.ts";
import { nodeOf, toUrl } from "../../collectors/exporters/targets/target.ts";
import { inspectObjects } from "../../collectors/kubernetes/inspect.ts";
import { looksLikeObjects } from "../../collectors/kubernetes/manifest.ts";
import { counted } from "../../domain/counted.ts";
import { gpuKey } from "../../domain/device.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { renderObjects } from "../inspect-kubernetes.ts";
import { renderServing } from "../inspect-serving.ts";
import { renderTable } from "../table.ts";

/** The options of `gpu-ledger inspect`. */
export interface InspectOptions {
  readonly format: string;
  readonly tenant?: string;
  readonly bearerTokenFile?: string;
  readonly insecureSkipVerify?: boolean;
  readonly timeout: string;
}

/** Prints the values of a page or of Kubernetes objects. Fails with a `CommandError` if the source cannot be read or has no GPU. */
export async function runInspect(source: string, options: InspectOptions, context: CommandContext): Promise<void> {
  if (options.format !== "table" && options.format !== "json") {
    throw new CommandError(`--format ${options.format}: must be table or json`, 2);
  }
  const show = (found: object, table: () => string): void => {
    const text = options.format === "json" ? JSON.stringify({ source, ...found }, null, 2) : table();
    context.stdout.write(`${text}\n`);
  };
  const { page, complete, url } = await readSource(source, options, context);
  if (url === undefined && looksLikeObjects(page.toString("utf8", 0, 65_536))) {
    const objects = inspectObjects(page.toString("utf8"));
    show(objects, () => renderObjects(objects));
    return;
  }
  const inspection = inspectPage(page, complete);
  if ("reason" in inspection) {
    const serving = inspection.reason === "foreign-page" ? inspectServing(page, complete, options) : inspection;
    if ("reason" in serving)
      throw new CommandError(
        `${source}: ${inspection.reason}: ${inspection.detail.replace("GPU exporter", "GPU exporter, inference engine or gateway")}`,
      );
    show(serving, () => renderServing(serving));
    return;
  }
  const node =
    url === undefined
      ? undefined
      : nodeOf(
          { url, labels: {} },
          inspection.devices.map((d) => d.device),
        );
  show({ ...(node === undefined ? {} : { node }), ...inspection }, () => render(inspection, node));
  if (inspection.devices.length === 0)
    throw new CommandError(`${source}: the page has no GPU: it may not be the page of a GPU exporter`);
}

function inspectServing(page: Buffer, complete: boolean, { tenant }: InspectOptions): ServingInspection | Uninspected {
  return inspectServingPage(page, complete, { ...TENANT_RULES, labels: tenant?.split(",") });
}

interface Source {
  readonly page: Buffer;
  readonly complete: boolean;
  readonly url?: string;
}

async function readSource(source: string, options: InspectOptions, context: CommandContext): Promise<Source> {
  if (source === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of context.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
    return { page: Buffer.concat(chunks), complete: true };
  }
  if (!/^https?:\/\//.test(source)) {
    try {
      return { page: await readFile(source), complete: true };
    } catch (error) {
      throw new CommandError(
        `${source} is not a readable file (${error instanceof Error ? error.message : String(error)}) and not an http:// or https:// address`,
        2,
      );
    }
  }
  if (!URL.canParse(source)) throw new CommandError(`${source} is not an address`, 2);
  const url = toUrl(source, { scheme: "http", port: 9400, path: "/metrics" });
  const seconds = Number(options.timeout);
  if (!(seconds > 0)) throw new CommandError(`--timeout ${options.timeout}: must be a number of seconds above 0`, 2);
  const timeoutMillis = seconds * 1000;
  const tls = { insecureSkipVerify: options.insecureSkipVerify === true };
  const connections = createConnections({ tls });
  const credentials = options.bearerTokenFile === undefined ? {} : { bearerTokenFile: options.bearerTokenFile };
  try {
    const answer = await fetchPage(connections, createReceiveBuffers(), {
      url: new URL(url),
      authorization: createAuthorization(credentials),
      timeoutMillis,
      bodyLimitBytes: 256_000_000,
      gzip: false,
      redirects: "host",
    });
    if ("reason" in answer) throw new CommandError(`${url}: ${answer.reason}: ${answer.detail}`);
    return { page: Buffer.from(answer.page), complete: answer.complete, url };
  } finally {
    connections.close();
  }
}

const MOST_DROPS = 50;

function render({ exporter, samples, devices, drops }: Inspection, node: string | undefined): string {
  const sections = [
    `${exporter === "" ? "no known exporter" : exporter}${node === undefined ? "" : ` on ${node}`}: ${counted(samples, "sample")}, ${counted(devices.length, "device")}, ${counted(drops.length, "line")} left out`,
  ];
  if (devices.length > 0) {
    const rows = devices.map(({ device, values }) => [
      device.gpu ?? "",
      gpuKey(device),
      device.instance === undefined ? (device.partition ?? "") : `${device.instance} (${device.profile ?? "?"})`,
      device.model ?? "",
      device.pod === undefined ? (device.hpcJob ?? "") : `${device.namespace ?? "?"}/${device.pod}`,
      device.repeatsDevice === true ? "its own" : device.repeatsGpu === true ? "instance's" : "all",
      String(Object.keys(values).length),
    ]);
    sections.push(renderTable(["gpu", "uuid", "instance", "model", "holder", "sum", "values"], rows));
    const columns = [...new Set(devices.flatMap(({ values }) => Object.keys(values)))];
    const named = devices.map(({ device }, i) => {
      const parts = [device.gpu, device.instance ?? device.partition, device.pod].filter((part) => part !== undefined);
      return parts.length === 0 ? `#${i}` : `gpu ${parts.join("/")}`;
    });
    const shown = devices.slice(0, 8);
    sections.push(
      renderTable(
        ["value", ...named.slice(0, 8)],
        columns.map((column) => [column, ...shown.map(({ values }) => format(values[column]))]),
      ) +
        (devices.length > shown.length
          ? `\n… and ${devices.length - shown.length} more devices; see --format json`
          : ""),
    );
    const unknown = [...new Set(devices.flatMap(({ unknown: names }) => Object.keys(names)))];
    if (unknown.length > 0) sections.push(`kept under the exporter's name:\n  ${unknown.join("\n  ")}`);
  }
  if (drops.length > 0) {
    const rows = drops.slice(0, MOST_DROPS).map(({ line, reason, series, why }) => [String(line), reason, series, why]);
    const more = drops.length > MOST_DROPS ? `\n… and ${drops.length - MOST_DROPS} more; see --format json` : "";
    sections.push(`left out:\n${renderTable(["line", "reason", "series", "why"], rows)}${more}`);
  }
  return sections.join("\n\n");
}

function format(value: number | undefined): string {
  if (value === undefined) return "-";
  return Number.isInteger(value) ? String(value) : value.toPrecision(6).replace(/\.?0+$/, "");
}
