import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { freePort } from "./ports.ts";

const run = promisify(execFile);

/** A series of an answer: its labels, including the metric's name, and its samples in seconds since the epoch with a value. */
export interface AnsweredSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [at: number, value: string])[];
}

/** An alert as Prometheus' API shows it. */
export interface ShownAlert {
  readonly state: "pending" | "firing";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A real Prometheus. */
export interface PrometheusServer {
  /** The result of an expression now, or at a time in milliseconds since the epoch: a sample for each series, or those of a range. */
  query(expr: string, atMillis?: number): Promise<readonly AnsweredSeries[]>;
  /** The result over a time, in milliseconds since the epoch. */
  queryRange(
    expr: string,
    fromMillis: number,
    untilMillis: number,
    stepSeconds: number,
  ): Promise<readonly AnsweredSeries[]>;
  /** The values of a label on the series that a selector finds in a time, in milliseconds since the epoch. */
  labelValues(label: string, selector: string, fromMillis: number, untilMillis: number): Promise<readonly string[]>;
  alerts(): Promise<readonly ShownAlert[]>;
  readonly url: string;
  readonly processId: number;
  stop(): Promise<void>;
}

/** A series that Prometheus has from before its start; `valueAt` gets seconds since the epoch. */
export interface PastSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly valueAt: (atSeconds: number) => number;
}

/** The length of the history, and the interval of its samples. */
export interface PastRange {
  readonly seconds: number;
  readonly stepSeconds: number;
}

/**
 * Starts Debian's Prometheus on 127.0.0.1 with a configuration and the files that it names, and optionally a history until now. Fails with its log
 * where it does not become ready.
 */
export async function startPrometheus(options: {
  readonly configuration: object;
  readonly files: Readonly<Record<string, string>>;
  readonly past?: { readonly series: readonly PastSeries[]; readonly range: PastRange };
}): Promise<PrometheusServer> {
  const { configuration, files, past } = options;
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-prometheus-"));
  const written = { ...files, "prometheus.yaml": stringify(configuration) };
  await Promise.all(Object.entries(written).map(([name, text]) => writeFile(join(folder, name), text)));
  const data = join(folder, "data");
  if (past !== undefined) {
    const path = join(folder, "past.om");
    await writeFile(path, openMetrics(past.series, past.range));
    await run("promtool", ["tsdb", "create-blocks-from", "openmetrics", path, data]);
  }
  const server = await startPrometheusOn(join(folder, "prometheus.yaml"), data);
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts Prometheus without targets. It takes samples by remote write, in the order of time, from any time on. */
export async function startWritablePrometheus(flags: readonly string[] = []): Promise<PrometheusServer> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-prometheus-"));
  const configuration = join(folder, "prometheus.yaml");
  await writeFile(configuration, stringify({ global: {} }));
  const server = await startPrometheusOn(configuration, join(folder, "data"), [
    "--web.enable-remote-write-receiver",
    ...flags,
  ]);
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/**
 * Starts Prometheus with an existing configuration file and an existing data folder, and optionally more flags. Both stay when it ends. Fails with
 * its log where it does not become ready.
 */
export function startPrometheusOn(
  configuration: string,
  data: string,
  flags: readonly string[] = [],
): Promise<PrometheusServer> {
  return startPrometheusWith([
    `--config.file=${configuration}`,
    `--storage.tsdb.path=${data}`,
    // The history may be of any time.
    "--storage.tsdb.retention.time=100y",
    ...flags,
  ]);
}

/** Starts Prometheus with flags alone, on a port of 127.0.0.1. Fails with its log where it does not become ready. */
export async function startPrometheusWith(flags: readonly string[]): Promise<PrometheusServer> {
  const port = await freePort();
  const child = spawn("prometheus", [...flags, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;

  async function ask<Data>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<Data> {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
    const { data: answer, error } = (await response.json()) as { readonly data: Data; readonly error?: string };
    if (error !== undefined) throw new Error(`Prometheus refused ${path} ${JSON.stringify(parameters)}: ${error}`);
    return answer;
  }

  async function stop(): Promise<void> {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }

  const isReady = (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      (response) => response.ok,
      () => false,
    );
  for (let tries = 0; !(await isReady()); tries++) {
    if (child.exitCode !== null || tries === 200) {
      await stop();
      throw new Error(`Prometheus does not become ready:\n${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    url,
    processId: child.pid!,
    labelValues: (label, selector, fromMillis, untilMillis) =>
      ask(`label/${label}/values`, {
        "match[]": selector,
        start: String(fromMillis / 1000),
        end: String(untilMillis / 1000),
      }),
    async query(expr, atMillis) {
      type Answer = {
        readonly result: readonly {
          readonly metric: AnsweredSeries["metric"];
          /** Absent where the expression is a range of samples. */
          readonly value?: AnsweredSeries["values"][0];
          readonly values?: AnsweredSeries["values"];
        }[];
      };
      const { result } = await ask<Answer>("query", {
        query: expr,
        ...(atMillis === undefined ? {} : { time: String(atMillis / 1000) }),
      });
      return result.map(({ metric, value, values }) => ({ metric, values: values ?? [value!] }));
    },
    async queryRange(expr, fromMillis, untilMillis, stepSeconds) {
      const { result } = await ask<{ readonly result: readonly AnsweredSeries[] }>("query_range", {
        query: expr,
        start: String(fromMillis / 1000),
        end: String(untilMillis / 1000),
        step: String(stepSeconds),
      });
      return result;
    },
    alerts: async () => (await ask<{ readonly alerts: readonly ShownAlert[] }>("alerts")).alerts,
    stop,
  };
}

/** The history in promtool's format: a metric's series are next to each other. */
function openMetrics(past: readonly PastSeries[], { seconds, stepSeconds }: PastRange): string {
  const now = Math.floor(Date.now() / 1000 / stepSeconds) * stepSeconds;
  const names = [...new Set(past.map(({ name }) => name))];
  const lines = names.flatMap((name) => [
    `# TYPE ${name} gauge`,
    ...past
      .filter((series) => series.name === name)
      .flatMap((series) => samplesOf(series, now - seconds, now, stepSeconds)),
  ]);
  return `${lines.join("\n")}\n# EOF\n`;
}

function samplesOf(
  { name, labels, valueAt }: PastSeries,
  from: number,
  until: number,
  step: number,
): readonly string[] {
  const text = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  const lines: string[] = [];
  for (let at = from; at < until; at += step) lines.push(`${name}{${text.join(",")}} ${valueAt(at)} ${at}`);
  return lines;
}
