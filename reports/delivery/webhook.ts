import { createHmac } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { Agent, request } from "undici";
import type { ConfiguredWebhook } from "../../runtime/config/deliveries.ts";
import { startDeadline } from "../../runtime/deadline.ts";
import { DeliveryError } from "./error.ts";
import { isLinkLocal, LINK_LOCAL_CODE, lookupElsewhere } from "../../runtime/http/link-local.ts";
import type { Parcel } from "./manifest.ts";
import type { Occasion } from "./records.ts";

/** The number of characters of a refusing answer in an error. */
const MOST_CHARACTERS = 200;
const MOST_READ_BYTES = 4_096;
const REFUSED_ADDRESS =
  "the webhook has a link-local address, such as a metadata service: set allowLinkLocal if it is right";

/** A file for a webhook. */
export interface Posting {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  /** Returns the content from its beginning. */
  read(): Readable;
  /** The same for every attempt to send the same content, and different for everything else. */
  readonly idempotencyKey: string;
  /** Further headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the file of a delivery for a webhook. */
export function postingOf({ file, occasion, attempt }: Parcel): Posting {
  const { name, mediaType, bytes, sha256, path, question } = file;
  const period = question.span.name;
  return {
    name,
    mediaType,
    bytes,
    sha256,
    read: () => createReadStream(path),
    idempotencyKey: idempotencyKey(occasion, period),
    headers: {
      "x-gpu-ledger-delivery": occasion.delivery,
      "x-gpu-ledger-period": period,
      "x-gpu-ledger-attempt": String(attempt),
    },
  };
}

/**
 * Posts a file to a webhook. Only a 2xx answer is success. Redirects are not followed. Fails with a {@link DeliveryError}, and if the
 * signal is aborted.
 */
export async function postToWebhook(
  webhook: ConfiguredWebhook,
  posting: Posting,
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): Promise<void> {
  const { url, bearerToken, signingSecret, timeout, allowLinkLocal } = webhook;
  if (!allowLinkLocal && isLinkLocal(new URL(url).hostname))
    throw new DeliveryError("webhook-refused", REFUSED_ADDRESS);
  const headers: Record<string, string> = {
    "content-type": posting.mediaType,
    "content-length": String(posting.bytes),
    "content-disposition": `attachment; filename="${posting.name}"`,
    "content-digest": `sha-256=:${Buffer.from(posting.sha256, "hex").toString("base64")}:`,
    "user-agent": `gpu-ledger/${version}`,
    "idempotency-key": posting.idempotencyKey,
    ...posting.headers,
  };
  if (bearerToken !== undefined) headers["authorization"] = `Bearer ${bearerToken}`;
  if (signingSecret !== undefined)
    headers["x-gpu-ledger-signature"] = `sha256=${await signatureOf(posting.read(), signingSecret)}`;
  const connect = allowLinkLocal ? { timeout } : { timeout, lookup: lookupElsewhere };
  const dispatcher = new Agent({ connect, headersTimeout: timeout, bodyTimeout: timeout });
  const deadline = startDeadline(signal, timeout);
  const body = posting.read();
  try {
    const answer = await request(url, {
      method: "POST",
      headers,
      body,
      dispatcher,
      signal: deadline.signal,
    });
    const excerpt = await excerptOf(answer.body);
    if (answer.statusCode >= 200 && answer.statusCode < 300) return;
    throw new DeliveryError("webhook-refused", refusal(answer.statusCode, withoutSecrets(excerpt, webhook)));
  } catch (error) {
    if (error instanceof DeliveryError || signal.aborted) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === LINK_LOCAL_CODE) throw new DeliveryError("webhook-refused", REFUSED_ADDRESS);
    if (deadline.isOver || TIMEOUTS.has(code))
      throw new DeliveryError("webhook-timeout", `no answer within ${timeout / 1_000} s`, { cause: error });
    // Messages of failures can contain the address, which may be secret. Their codes cannot.
    throw new DeliveryError(
      "webhook-unreachable",
      `the webhook cannot be reached: ${code === "" ? "no connection" : code}`,
    );
  } finally {
    deadline.end();
    body.destroy();
    await dispatcher.destroy();
  }
}

const TIMEOUTS: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/** Returns a key that is the same for every attempt of an occasion, and different for every other occasion. */
function idempotencyKey({ delivery, recipient }: Occasion, period: string): string {
  return `${delivery}/${recipient}/${period}`;
}

async function signatureOf(content: Readable, secret: string): Promise<string> {
  const hmac = createHmac("sha256", secret);
  for await (const part of content as AsyncIterable<Buffer>) hmac.update(part);
  return hmac.digest("hex");
}

async function excerptOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    held.push(part);
    bytes += part.length;
    if (bytes >= MOST_READ_BYTES) break;
  }
  return Buffer.concat(held).subarray(0, MOST_READ_BYTES).toString("utf8");
}

function refusal(status: number, body: string): string {
  if (status >= 300 && status < 400) return `the webhook answered ${status}: redirects are not followed`;
  const text = body.replaceAll(/[\p{Cc}\s]+/gu, " ").trim();
  const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  return `the webhook answered ${status}${short === "" ? "" : `: ${short}`}`;
}

/** Removes secrets from an answer, which can repeat the request. */
function withoutSecrets(text: string, { url, bearerToken, signingSecret }: ConfiguredWebhook): string {
  const { pathname, search } = new URL(url);
  const secrets = [bearerToken, signingSecret, url, `${pathname}${search}`, search, pathname];
  return secrets
    .filter((secret): secret is string => secret !== undefined && secret.length > 1)
    .reduce((left, secret) => left.replaceAll(secret, "…"), text);
}
