import { connect, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import { checkFolder } from "../../reports/delivery/folder.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { attempt, type Finding } from "./finding.ts";

const OTLP_TIMEOUT_MILLIS = 5_000;

/** Checks the destinations beside the bus and the store: folders and webhooks of deliveries, the webhook of cards, and the OTLP endpoints. Nothing is sent. */
export async function* checkDestinations({ deliveries, act, tracing, metrics }: Config): AsyncGenerator<Finding> {
  for (const { name, to } of deliveries) {
    for (const { name: recipient, folder, webhook } of to) {
      yield await attempt(`delivery ${name} to ${recipient}`, async () => {
        if (webhook !== undefined) return takesConnections(new URL(webhook.url), webhook.timeout);
        await checkFolder(folder!);
        return `${folder!} can be written`;
      });
    }
  }
  const { webhook: ofCards } = act;
  if (ofCards !== undefined)
    yield await attempt("cards", () => takesConnections(new URL(ofCards.url), ofCards.timeout));
  for (const [what, { otlp }] of Object.entries({ traces: tracing, metrics })) {
    if (otlp !== undefined) yield await attempt(what, () => takesConnections(new URL(otlp), OTLP_TIMEOUT_MILLIS));
  }
}

/** Checks that an address accepts connections. Only its host and port are printed, because the rest can be secret. */
async function takesConnections({ protocol, hostname, port }: URL, timeoutMillis: number): Promise<string> {
  const isTls = protocol === "https:";
  const host = hostname.replaceAll(/[[\]]/g, "");
  const at = { host, port: Number(port) || (isTls ? 443 : 80) };
  const socket = isTls ? connectTls({ ...at, ...(isIP(host) === 0 ? { servername: host } : {}) }) : connect(at);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(timeoutMillis, () =>
        reject(new Error(`${host}:${at.port} did not answer within ${timeoutMillis / 1_000} s`)),
      );
      socket.once(isTls ? "secureConnect" : "connect", () => resolve());
      socket.once("error", reject);
    });
    return `${host}:${at.port} accepts connections; nothing was sent`;
  } finally {
    socket.destroy();
  }
}
