import { isAllowed } from "../../collectors/kubernetes/api/access-review.ts";
import { ApiError } from "../../collectors/kubernetes/api/api-error.ts";
import type { ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { startDeadline } from "../../runtime/deadline.ts";
import type { PageAddress } from "./exporter-pods.ts";
import { MOST_PAGE_BYTES, noAnswer, shortened, TOO_LARGE, type PageOptions, type PageResult } from "./page-result.ts";

/** A reader of pages through the API server's pod proxy. */
export interface ProxyReader {
  /** Returns a page, the failure of the pod, or `forbidden` if the credentials do not allow requests to pods of its namespace. */
  read(address: PageAddress): Promise<PageResult | "forbidden">;
}

/**
 * Creates a reader with an API server's pod proxy
 * (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-connect-proxy-path). After a 403, the server is asked
 * whether the permission is missing, once for each namespace, because an exporter can refuse a request too. Fails with the signal's reason.
 */
export function createProxyReader(api: ApiConnection, { timeoutMillis, signal }: PageOptions): ProxyReader {
  const permissions = new Map<string, Promise<boolean>>();

  function isPermitted(namespace: string): Promise<boolean> {
    let permission = permissions.get(namespace);
    if (permission === undefined) {
      const attempt = { verb: "get", group: "", resource: "pods", subresource: "proxy", namespace };
      permission = isAllowed(api, attempt, { timeoutMillis, signal }).catch(() => false);
      permissions.set(namespace, permission);
    }
    return permission;
  }

  async function receive({ url, namespace, pod }: PageAddress, until: AbortSignal): Promise<PageResult> {
    const isSecure = url.protocol === "https:";
    const port = url.port === "" ? (isSecure ? "443" : "80") : url.port;
    const target = `${isSecure ? "https:" : ""}${encodeURIComponent(pod)}:${port}`;
    const body = await api.open({
      path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${target}/proxy${url.pathname}${url.search}`,
      accept: "text/plain;version=0.0.4;q=1,*/*;q=0.1",
      silenceMillis: timeoutMillis,
      signal: until,
    });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > MOST_PAGE_BYTES) return TOO_LARGE;
      chunks.push(chunk);
    }
    return { page: Buffer.concat(chunks) };
  }

  return {
    async read(address) {
      if ((await permissions.get(address.namespace)) === false) return "forbidden";
      const deadline = startDeadline(signal, timeoutMillis);
      try {
        return await receive(address, deadline.signal);
      } catch (error) {
        signal.throwIfAborted();
        if (deadline.isOver) return noAnswer(timeoutMillis);
        if (!(error instanceof ApiError)) throw error;
        if (error.code === "silent") return noAnswer(timeoutMillis);
        if (error.code === "forbidden" && !(await isPermitted(address.namespace))) return "forbidden";
        return { failure: shortened(error.message) };
      } finally {
        deadline.end();
      }
    },
  };
}
