import type { KubeConfig } from "@kubernetes/client-node";
import { existsSync, readFileSync, statSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { createAuthorization, type Authorization } from "../../exporters/http/credentials.ts";
import type { ApiAccessSource } from "./connection.ts";

/** The source of a cluster's address and credentials. */
export interface KubeAccessOptions {
  /** A kubeconfig. If absent: `KUBECONFIG`, `~/.kube/config` or the pod's own service account, in kubectl's order. */
  readonly file?: string;
  /** A context of the kubeconfig; the current one if absent. */
  readonly context?: string;
}

/** The client's default if it finds no access, as in old versions of kubectl. */
const NOWHERE = "http://localhost:8080";

/**
 * Creates the access to a cluster like kubectl: kubeconfigs with client certificates, tokens, token files and exec plugins, or the service
 * account of the own pod. Tokens that expire are renewed in time. After a 401, and when the named file has changed, everything is read
 * again. Fails with a sentence if the kubeconfig cannot be read, or if the context does not exist.
 */
export function createKubeAccess({ file, context }: KubeAccessOptions): ApiAccessSource {
  let loaded: KubeConfig | undefined;
  let loadedMillis = 0;
  /** The authorization from the user's token file, which the client library ignores. The file is read again when it has changed. */
  let tokenOf: Authorization | undefined;

  async function load(): Promise<KubeConfig> {
    // Imported only when Kubernetes is used: the module is larger than the rest of the collector.
    const client = await import("@kubernetes/client-node");
    const config = new client.KubeConfig();
    try {
      if (file === undefined) config.loadFromDefault();
      else config.loadFromFile(file);
    } catch (error) {
      throw new Error(`${file ?? kubeconfigFiles().join(", ")} is not a kubeconfig: ${reasonOf(error)}`);
    }
    if (context !== undefined) {
      if (config.getContextObject(context) === null)
        throw new Error(`there is no context ${context} in ${file ?? "the kubeconfig"}`);
      config.setCurrentContext(context);
    }
    return config;
  }

  return async (fresh) => {
    const changedMillis = file === undefined ? 0 : (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (loaded === undefined || fresh || changedMillis > loadedMillis) {
      loaded = await load();
      loadedMillis = changedMillis;
      const bearerTokenFile = tokenFileOf(loaded, file);
      tokenOf = bearerTokenFile === undefined ? undefined : createAuthorization({ bearerTokenFile });
    }
    const cluster = loaded.getCurrentCluster();
    if (cluster === null) throw new Error(`the context of ${file ?? "the kubeconfig"} has no cluster`);
    if (file === undefined && cluster.server === NOWHERE)
      throw new Error("no kubeconfig was found (KUBECONFIG, ~/.kube/config), and no service account of a pod");
    const options: RequestOptions = { headers: {} };
    await loaded.applyToHTTPSOptions(options);
    const { ca, cert, key, servername, rejectUnauthorized, auth, headers } = options;
    const token = await tokenOf?.();
    return {
      server: cluster.server,
      headers: {
        ...Object.fromEntries(
          Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
        ),
        ...(auth === undefined || auth === null
          ? {}
          : { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
        ...(token === undefined ? {} : { authorization: token }),
      },
      tls: {
        ...(ca === undefined ? {} : { ca: ca as Buffer }),
        ...(cert === undefined ? {} : { cert: cert as Buffer }),
        ...(key === undefined ? {} : { key: key as Buffer }),
        ...(servername === undefined ? {} : { servername }),
        ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      },
    };
  };
}

/** Returns the kubeconfigs that kubectl reads if none is named. */
function kubeconfigFiles(): readonly string[] {
  const files = process.env["KUBECONFIG"]?.split(delimiter) ?? [join(homedir(), ".kube", "config")];
  return files.filter((path) => path !== "");
}

/** Returns the reason without the lines of the file that a reason of YAML has, because they can be secrets. */
function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return "it has no clusters, contexts and users";
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "there is no such file" : message.split("\n", 1)[0]!;
}

interface KubeconfigUsers {
  readonly users?:
    | readonly { readonly name?: unknown; readonly user?: { readonly tokenFile?: unknown } | null }[]
    | null;
}

/**
 * Returns the token file of the current context's user. It takes precedence over a token in the kubeconfig itself, as in kubectl
 * (https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/#AuthInfo). A path is relative to the kubeconfig's folder. Of several
 * kubeconfigs, the first with the user counts.
 */
function tokenFileOf(config: KubeConfig, file: string | undefined): string | undefined {
  const name = config.getCurrentUser()?.name;
  for (const path of file === undefined ? kubeconfigFiles() : [file]) {
    if (!existsSync(path)) continue;
    const { users } = (parse(readFileSync(path, "utf8")) ?? {}) as KubeconfigUsers;
    const user = users?.find((each) => each.name === name)?.user;
    if (user === undefined || user === null) continue;
    return typeof user.tokenFile === "string" ? resolve(dirname(path), user.tokenFile) : undefined;
  }
  return undefined;
}
