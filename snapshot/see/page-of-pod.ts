import { createConnections } from "../../collectors/exporters/http/connections.ts";
import { createAuthorization } from "../../collectors/exporters/http/credentials.ts";
import { fetchPage } from "../../collectors/exporters/http/fetch-page.ts";
import { createReceiveBuffers } from "../../collectors/exporters/http/receive-buffers.ts";
import { MOST_PAGE_BYTES, noAnswer, shortened, TOO_LARGE, type PageOptions, type PageResult } from "./page-result.ts";

/** A reader of pages at the pods' own addresses. */
export interface PodReader {
  read(url: URL): Promise<PageResult>;
  close(): void;
}

/** The longest wait for a pod. A network without a route to the pods often drops packets, and a pod nearby answers at once. */
const LONGEST_MILLIS = 3_000;
/** The number of failures without a page after which the pods' network counts as out of reach. */
const MOST_FAILURES = 20;

/** Creates a reader of pods. When 20 pages have failed and none has arrived, it returns the last failure for all others. */
export function createPodReader({ timeoutMillis }: Pick<PageOptions, "timeoutMillis">): PodReader {
  const connections = createConnections({ tls: undefined });
  const buffers = createReceiveBuffers();
  const longestMillis = Math.min(timeoutMillis, LONGEST_MILLIS);
  let pages = 0;
  let failures = 0;
  let last: { readonly failure: string } = noAnswer(longestMillis);

  async function fetched(url: URL): Promise<PageResult> {
    const answer = await fetchPage(connections, buffers, {
      url,
      authorization: createAuthorization({}),
      timeoutMillis: longestMillis,
      bodyLimitBytes: MOST_PAGE_BYTES,
      gzip: false,
      redirects: "origin",
    });
    if ("reason" in answer) {
      if (answer.reason === "timeout") return noAnswer(longestMillis);
      return answer.reason === "too-large" ? TOO_LARGE : { failure: shortened(answer.detail) };
    }
    const page = Buffer.from(answer.page);
    answer.release();
    return answer.complete || page.at(-1) === 0x0a ? { page } : { failure: "the page is cut off" };
  }

  return {
    async read(url) {
      if (pages === 0 && failures >= MOST_FAILURES) return last;
      const result = await fetched(url);
      if ("page" in result) pages += 1;
      else {
        failures += 1;
        last = result;
      }
      return result;
    },
    close: () => connections.close(),
  };
}
