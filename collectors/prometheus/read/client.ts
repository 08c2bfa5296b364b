import { setTimeout as pause } from "node:timers/promises";
import { Agent, request, type Dispatcher } from "undici";
import { createBackOff } from "../../../runtime/back-off.ts";
import { SourceError, type SourceErrorKind } from "./source-error.ts";

/** An HTTP client of one server with Prometheus' API. */
export interface PrometheusClient {
  /** Sends a form to a path below the address and returns the `data` of the JSON answer. Fails with a {@link SourceError}. */
  ask<Data>(path: string, form: Readonly<Record<string, string>>): Promise<Data>;
  /** Gets a path with parameters and returns the `data` of the JSON answer. Fails with a {@link SourceError}. */
  get<Data>(path: string, parameters: Readonly<Record<string, string>>): Promise<Data>;
  /** Sends a request and passes the answer to `use`. It is called again for each attempt. Fails with a {@link SourceError}. */
  send<Value>(request: ClientRequest, use: (answer: Dispatcher.ResponseData) => Promise<Value>): Promise<Value>;
  /** Returns the same client whose requests end, with a {@link SourceError} `unavailable`, when the signal is aborted. */
  within(signal: AbortSignal): PrometheusClient;
  /** The time that was spent in requests and in pauses between them, in milliseconds. */
  readonly spent: { readonly busyMillis: number; readonly pausedMillis: number; readonly requests: number };
  close(): Promise<void>;
}

/** A request: a path below the address, headers and a body. Without a body it is a GET, otherwise a POST. */
export interface ClientRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** The access to a server. */
export interface ClientOptions {
  /** The address of the server, with the prefix of its API if it has one: `https://mimir/prometheus`. */
  readonly url: string;
  /** Headers of each request, such as `Authorization` and `X-Scope-OrgID`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The part of the time in which a request may be under way, above 0 and at most 1. */
  readonly maxLoad: number;
  /** How long attempts are repeated while the server is unavailable. */
  readonly patienceMillis: number;
  /** The longest wait for headers, and between two parts of an answer. */
  readonly timeoutMillis: number;
  /** The most bytes of an answer in JSON. */
  readonly mostBytes: number;
  /** The certificate authorities, if not the system's. */
  readonly ca?: string;
  readonly onRetry: (message: string, pauseMillis: number) => void;
  /** Accepts answers that the server calls incomplete, with its sentence. Without it, such an answer is repeated as of an unavailable server. */
  readonly onPartial?: ((sentence: string) => void) | undefined;
}

/** The pauses between attempts. */
const PAUSES = { firstMillis: 500, longestMillis: 20_000 };
const LONGEST_TEXT = 300;

/** Creates a client that sends one request after another. */
export function createPrometheusClient(options: ClientOptions): PrometheusClient {
  const { url, headers, maxLoad, patienceMillis, timeoutMillis, mostBytes, ca, onRetry, onPartial } = options;
  const dispatcher = new Agent({
    connections: 1,
    headersTimeout: timeoutMillis,
    bodyTimeout: timeoutMillis,
    connect: { timeout: 10_000, ...(ca === undefined ? {} : { ca }) },
  });
  const base = url.replace(/\/+$/, "");
  const spent = { busyMillis: 0, pausedMillis: 0, requests: 0 };

  async function attempt<Value>(
    { path, headers: own, body }: ClientRequest,
    use: (answer: Dispatcher.ResponseData) => Promise<Value>,
    signal: AbortSignal | undefined,
  ): Promise<Value> {
    const began = performance.now();
    spent.requests += 1;
    try {
      const answer = await request(`${base}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { ...headers, ...own },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
        dispatcher,
      });
      if (answer.statusCode !== 200) throw await failureOf(answer);
      return await use(answer);
    } catch (error) {
      if (signal?.aborted === true)
        throw new SourceError("unavailable", `no whole answer from ${base} in time`, { cause: error });
      const kind = error instanceof SourceError ? undefined : kindOfNetwork(error);
      if (kind === undefined) throw error;
      throw new SourceError(kind, `no answer from ${base}: ${(error as Error).message}`, { cause: error });
    } finally {
      spent.busyMillis += performance.now() - began;
    }
  }

  /** Waits so that requests take only their part of the time. */
  async function rest(busyMillis: number): Promise<void> {
    const millis = busyMillis / maxLoad - busyMillis;
    if (millis < 1) return;
    spent.pausedMillis += millis;
    await pause(millis);
  }

  function clientWithin(signal: AbortSignal | undefined): PrometheusClient {
    const client: PrometheusClient = {
      spent,
      within: clientWithin,
      async send(wanted, use) {
        const backOff = createBackOff({ ...PAUSES, random: Math.random });
        const until = performance.now() + patienceMillis;
        for (;;) {
          const before = spent.busyMillis;
          try {
            const value = await attempt(wanted, use, signal);
            await rest(spent.busyMillis - before);
            return value;
          } catch (error) {
            if (!(error instanceof SourceError) || error.kind !== "unavailable" || signal?.aborted === true)
              throw error;
            const millis = backOff.next(error.retryAfterMillis);
            if (performance.now() + millis > until) throw error;
            onRetry(error.message, millis);
            spent.pausedMillis += millis;
            await pause(millis);
          }
        }
      },
      ask<Data>(path: string, form: Readonly<Record<string, string>>) {
        const headers = { ...JSON_ANSWER, "content-type": "application/x-www-form-urlencoded" };
        return client.send({ path, headers, body: new URLSearchParams(form).toString() }, (answer) =>
          dataOf<Data>(answer, mostBytes, onPartial),
        );
      },
      get<Data>(path: string, parameters: Readonly<Record<string, string>>) {
        return client.send(
          { path: `${path}?${new URLSearchParams(parameters).toString()}`, headers: JSON_ANSWER },
          (answer) => dataOf<Data>(answer, mostBytes, onPartial),
        );
      },
      async close() {
        await dispatcher.close();
      },
    };
    return client;
  }
  return clientWithin(undefined);
}

const JSON_ANSWER = { accept: "application/json" };

/** An answer in JSON. Thanos explains in `warnings` what an answer lacks, VictoriaMetrics sets `isPartial`. */
interface Answer<Data> {
  readonly data?: Data;
  readonly warnings?: readonly string[];
  readonly isPartial?: boolean;
}

/** Returns the data of an answer in JSON. Prometheus' data is a mapping or a list. */
async function dataOf<Data>(
  { body }: Dispatcher.ResponseData,
  mostBytes: number,
  onPartial: ClientOptions["onPartial"],
): Promise<Data> {
  const text = await textOf(body, mostBytes);
  let answer: Answer<Data> | null;
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch (error) {
    throw new SourceError("broken", `an answer is not JSON: ${text.slice(0, LONGEST_TEXT)}`, { cause: error });
  }
  if (typeof answer?.data !== "object" || answer.data === null)
    throw new SourceError("broken", `an answer has no data: ${text.slice(0, LONGEST_TEXT)}`);
  const lack = lackOf(answer);
  if (lack !== undefined && onPartial === undefined)
    throw new SourceError("unavailable", `the server has only a part of the answer: ${lack}`);
  if (lack !== undefined) onPartial?.(lack);
  return answer.data;
}

/** Returns what an answer lacks, in the words of the server; undefined if it is complete. Prometheus' remarks about an expression are no lack. */
function lackOf({ warnings, isPartial }: Answer<unknown>): string | undefined {
  const [lack] = Array.isArray(warnings) ? warnings.map(String).filter((text) => !text.startsWith("PromQL ")) : [];
  return lack?.slice(0, LONGEST_TEXT) ?? (isPartial === true ? "isPartial" : undefined);
}

/** Returns the text of a body. Fails with a {@link SourceError} `limit` if it has more bytes. */
async function textOf(body: Dispatcher.ResponseData["body"], mostBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes) throw new SourceError("limit", `an answer has more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** The most bytes of an answer with an error. Only its sentence is used. */
const MOST_ERROR_BYTES = 1_000_000;

async function failureOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<SourceError> {
  const text = await textOf(body, MOST_ERROR_BYTES);
  const sentence = errorIn(text).slice(0, LONGEST_TEXT);
  const after = Number(headers["retry-after"]);
  return new SourceError(kindOf(statusCode, sentence), `HTTP ${statusCode}: ${sentence}`, {
    retryAfterMillis: Number.isFinite(after) ? after * 1000 : 0,
  });
}

function errorIn(text: string): string {
  try {
    return (JSON.parse(text) as { readonly error?: string }).error ?? text;
  } catch {
    return text.trim();
  }
}

/** The limits of Prometheus, Thanos, Mimir and VictoriaMetrics on one answer. */
const LIMITS = /too many|limit|exceed|too large|timed? ?out|-search\.max/i;

function kindOf(status: number, sentence: string): SourceErrorKind {
  if (status === 401 || status === 403) return "refused";
  if (status === 404 || status === 405 || status === 501) return "unsupported";
  // Prometheus answers 503 also for a query that takes too long, which a smaller query does not.
  if (LIMITS.test(sentence) && status !== 429) return "limit";
  if (status === 429 || status >= 500) return "unavailable";
  return "broken";
}

/** Returns the kind of an error of the network; undefined for any other error. A certificate that is refused stays so. */
function kindOfNetwork(error: unknown): SourceErrorKind | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  if (/CERT|SIGNATURE|^ERR_(TLS|SSL)/.test(error.code)) return "refused";
  return /^(E[A-Z]+$|UND_ERR_|HPE_)/.test(error.code) ? "unavailable" : undefined;
}
