import { request, type Dispatcher } from "undici";
import { startDeadline } from "../../../runtime/deadline.ts";
import type { Authorization } from "../http/credentials.ts";
import { readTargetGroups, type AddressDefaults } from "./group.ts";
import { createPolledDiscovery } from "./polled.ts";
import type { Discovery } from "./target.ts";

const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Creates a discovery like Prometheus' HTTP service discovery: a URL that returns target groups as JSON, polled every `refreshMillis`. A
 * look fails if the answer is not 200 or has more than 64 MiB.
 */
export function createHttpDiscovery(options: {
  readonly url: string;
  readonly refreshMillis: number;
  readonly timeoutMillis: number;
  readonly authorization: Authorization;
  readonly defaults: AddressDefaults;
}): Discovery {
  const { url, refreshMillis, timeoutMillis, authorization, defaults } = options;
  return createPolledDiscovery({
    name: `http ${url}`,
    refreshMillis,
    async look(signal) {
      const header = await authorization();
      const deadline = startDeadline(signal, timeoutMillis);
      try {
        const answer = await request(url, {
          headers: {
            accept: "application/json",
            "x-prometheus-refresh-interval-seconds": String(refreshMillis / 1000),
            ...(header === undefined ? {} : { authorization: header }),
          },
          signal: deadline.signal,
        });
        return readTargetGroups(JSON.parse(await textOf(url, answer)), defaults);
      } finally {
        deadline.end();
      }
    },
  });
}

async function textOf(url: string, { statusCode, body }: Dispatcher.ResponseData): Promise<string> {
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`${url} answered HTTP ${statusCode}`);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BYTES) throw new Error(`${url} answered more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
