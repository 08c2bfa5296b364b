import { request } from "undici";
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
      const answer = await request(url, {
        headers: {
          accept: "application/json",
          "x-prometheus-refresh-interval-seconds": String(refreshMillis / 1000),
          ...(header === undefined ? {} : { authorization: header }),
        },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMillis)]),
      });
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        throw new Error(`${url} answered HTTP ${answer.statusCode}`);
      }
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length > MOST_BYTES) throw new Error(`${url} answered more than ${MOST_BYTES} bytes`);
        chunks.push(chunk);
      }
      return readTargetGroups(JSON.parse(Buffer.concat(chunks).toString("utf8")), defaults);
    },
  });
}
