import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { equalSecrets } from "../../../runtime/equal-secrets.ts";
import type { ConnectionLimit } from "../../../runtime/http/connections.ts";
import { createHttpPort, type PortConfig } from "../../../runtime/http/port.ts";
import type { PortTls } from "../../../runtime/tls/port-tls.ts";
import type { Receiver } from "./receiver.ts";
import { RefusedWrite, type RefusedStatus } from "./refused-write.ts";
import type { WriteVersion } from "./write-ahead-log.ts";

/** The credentials of senders. One of both is set. */
export interface WriteCredentials {
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly bearerToken?: string | undefined;
}

/** A port for remote write. */
export interface WriteServer {
  /** `http://host:port` with the actual port; `https` with TLS. */
  readonly url: string;
  /** The number of senders in the last minutes, by address and program. */
  senders(): number;
  stop(): Promise<void>;
}

/** The path of Prometheus' own receiver. */
const WRITE_PATH = "/api/v1/write";
const REQUEST_MILLIS = 30_000;
const KEEP_ALIVE_MILLIS = 120_000;
const MOST_AT_ONCE = 64;
const SENDER_MILLIS = 300_000;
const MOST_SENDERS = 1_000;
const TEXT = "text/plain; charset=utf-8";
const PROTOS: Readonly<Record<string, WriteVersion>> = {
  "prometheus.WriteRequest": 1,
  "io.prometheus.write.v2.Request": 2,
};

/**
 * Listens for remote write. A request is authenticated before its body is read. Fails with a {@link ListenError} if the address cannot be
 * listened on.
 */
export async function startWriteServer(options: {
  readonly config: PortConfig;
  readonly credentials: WriteCredentials;
  readonly bodyLimitBytes: number;
  readonly tls: PortTls | undefined;
  readonly receiver: Pick<Receiver, "receive">;
  readonly onRequest: (status: number) => void;
  readonly onConnectionEnded: (by: ConnectionLimit) => void;
  readonly nowMillis: () => number;
  readonly logger: Logger;
}): Promise<WriteServer> {
  const { config, credentials, bodyLimitBytes, tls, receiver, onRequest, onConnectionEnded, nowMillis, logger } =
    options;
  const port = createHttpPort({
    config,
    key: "collector.remoteWrite.listen",
    tls,
    requestMillis: REQUEST_MILLIS,
    keepAliveMillis: KEEP_ALIVE_MILLIS,
    bodyLimitBytes,
    isOpen: () => credentials.basic === undefined && credentials.bearerToken === undefined,
    onConnectionEnded,
    logger,
  });
  const { server } = port;
  const senders = new Map<string, number>();
  let atOnce = 0;
  let refusedMillis = 0;

  server.addHook("onRequest", async (request, reply) => {
    authenticate(request, credentials);
    if (request.url.split("?")[0] !== WRITE_PATH) return;
    versionOf(request);
    if (atOnce >= MOST_AT_ONCE) throw new RefusedWrite(503, "too many requests at once");
    atOnce += 1;
    reply.raw.once("close", () => (atOnce -= 1));
    noteSender(request);
  });
  server.addHook("onResponse", async (_, reply) => onRequest(reply.statusCode));
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  server.post(WRITE_PATH, async (request, reply) => {
    const version = versionOf(request);
    const { body } = request;
    if (!Buffer.isBuffer(body)) throw new RefusedWrite(400, "the request has no body");
    const { samples } = await receiver.receive(body, version);
    if (version === 2) {
      void reply.header("x-prometheus-remote-write-samples-written", String(samples));
      void reply.header("x-prometheus-remote-write-histograms-written", "0");
      void reply.header("x-prometheus-remote-write-exemplars-written", "0");
    }
    return reply.code(204).send();
  });
  server.setErrorHandler((error: Error & { readonly statusCode?: number }, request, reply) => {
    const status = error instanceof RefusedWrite ? error.status : (error.statusCode ?? 500);
    void reply.code(status).type(TEXT).header("cache-control", "no-store");
    if (status === 401) void reply.header("www-authenticate", challengeOf(credentials));
    if (error instanceof RefusedWrite && error.retriable) void reply.header("retry-after", String(error.retrySeconds));
    if (status >= 500 && status !== 503) {
      logger.error({ err: error, url: request.url }, "a request of remote write failed");
      return reply.send("internal error; see the log\n");
    }
    logRefusal(status, error);
    return reply.send(`${error.message}\n`);
  });

  /** Logs refusals, at most one a minute, because senders repeat them. */
  function logRefusal(status: number, error: Error): void {
    if (nowMillis() - refusedMillis < 60_000) return;
    refusedMillis = nowMillis();
    logger.warn({ status, reason: error.message, cause: error.cause }, "a request of remote write was refused");
  }

  function noteSender({ ip, headers }: FastifyRequest): void {
    const key = `${ip} ${headers["user-agent"] ?? ""}`.slice(0, 256);
    if (senders.has(key) || senders.size < MOST_SENDERS) senders.set(key, nowMillis());
  }

  return {
    url: await port.open(),
    senders() {
      for (const [key, seenMillis] of senders) if (nowMillis() - seenMillis > SENDER_MILLIS) senders.delete(key);
      return senders.size;
    },
    stop: port.close,
  };
}

/** Throws a {@link RefusedWrite} 401 if a request has not the credentials. */
function authenticate({ headers }: FastifyRequest, { basic, bearerToken }: WriteCredentials): void {
  const given = headers.authorization ?? "";
  const space = given.indexOf(" ");
  const [scheme, rest] = [given.slice(0, space).toLowerCase(), given.slice(space + 1).trim()];
  const refuse = (status: RefusedStatus & 401): never => {
    throw new RefusedWrite(status, "the credentials are missing or wrong");
  };
  if (bearerToken !== undefined && !(scheme === "bearer" && equalSecrets(rest, bearerToken))) refuse(401);
  if (basic === undefined) return;
  const expected = `${basic.username}:${basic.password}`;
  if (scheme !== "basic" || !equalSecrets(Buffer.from(rest, "base64").toString("utf8"), expected)) refuse(401);
}

function challengeOf({ basic }: WriteCredentials): string {
  return `${basic === undefined ? "Bearer" : "Basic"} realm="gpu-ledger"`;
}

/** Returns the version of a request's body. Throws a {@link RefusedWrite} 415 if it is none of ours. */
function versionOf({ headers }: FastifyRequest): WriteVersion {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").split(";").map((part) => part.trim());
  const encoding = headers["content-encoding"] ?? "";
  if (type.toLowerCase() !== "application/x-protobuf")
    throw new RefusedWrite(415, "the content type must be application/x-protobuf");
  if (encoding.toLowerCase() !== "snappy") throw new RefusedWrite(415, "the content encoding must be snappy");
  const proto = parameters.find((parameter) => /^proto=/i.test(parameter))?.slice("proto=".length);
  const version = PROTOS[(proto ?? "prometheus.WriteRequest").replaceAll('"', "")];
  if (version === undefined) throw new RefusedWrite(415, "the message must be one of remote write 1.0 or 2.0");
  return version;
}
