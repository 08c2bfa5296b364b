import { counted } from "../../domain/counted.ts";
import { createServer } from "node:net";
import type { Config } from "../../runtime/config/schema.ts";
import { openTls } from "../../runtime/tls/port-tls.ts";
import type { RemoteWriteStatus } from "../../services/role.ts";
import { attempt, type Finding } from "./finding.ts";

const STATUS_MILLIS = 3_000;

/**
 * Checks the port for remote write: its TLS files, and whether it can be listened on. If a collector of this configuration runs, it has the
 * port, and its status has the parts that senders leave out.
 */
export async function* checkRemoteWrite({ collector, server }: Config): AsyncGenerator<Finding> {
  const { remoteWrite } = collector;
  if (remoteWrite === undefined) return;
  const { tls, listen } = remoteWrite;
  if (tls !== undefined) {
    yield await attempt("collector.remoteWrite.tls", async () => {
      const { subjectAltName = "no name", expiresMillis } = (await openTls(tls)).usable;
      return `a certificate of ${subjectAltName} until ${new Date(expiresMillis).toISOString()}`;
    });
  }
  const what = "collector.remoteWrite";
  const status = await runningStatus(server);
  if (status === undefined) {
    yield await attempt(what, async () => {
      await listenOnce(listen);
      return `${listen} is free. No collector runs with this configuration, or its /api/status cannot be read, so that senders are unknown`;
    });
    return;
  }
  const { senders, targets, leftOut } = status;
  yield { ok: true, what, answer: `${counted(senders, "sender")}, ${targets.up} of ${targets.total} targets up` };
  // Not a failure: samples without these parts are still used.
  for (const { text } of leftOut) yield { ok: true, what, answer: `senders leave out: ${text}` };
}

/** Returns the state of the port in a running collector; undefined if there is none, or if it does not answer. */
async function runningStatus({ listen, tls, metricsToken }: Config["server"]): Promise<RemoteWriteStatus | undefined> {
  const url = `${tls === undefined ? "http" : "https"}://${listen.replace(/^0\.0\.0\.0:|^\[::\]:/, "127.0.0.1:")}/api/status`;
  try {
    const answer = await fetch(url, {
      headers: metricsToken === undefined ? {} : { authorization: `Bearer ${metricsToken}` },
      signal: AbortSignal.timeout(STATUS_MILLIS),
    });
    const { collector } = (await answer.json()) as {
      readonly collector?: { readonly remoteWrite?: RemoteWriteStatus };
    };
    return collector?.remoteWrite;
  } catch {
    return undefined;
  }
}

/** Listens on an address and stops at once. */
async function listenOnce(listen: string): Promise<void> {
  const colon = listen.lastIndexOf(":");
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(Number(listen.slice(colon + 1)), listen.slice(0, colon).replace(/^\[|\]$/g, ""), resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
