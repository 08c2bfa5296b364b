import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import type { ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { pause } from "../../runtime/clock.ts";
import { inTurns } from "../../runtime/in-turns.ts";
import type { PageReading, SeenExporter, Unseen } from "../seen.ts";
import type { FoundExporter, PageAddress } from "./exporter-pods.ts";
import { createPodReader } from "./page-of-pod.ts";
import type { PageOptions, PageResult } from "./page-result.ts";
import { createProxyReader } from "./page-through-proxy.ts";

/** The exporters with their readings, and the missing permission. */
export interface SeenPages {
  readonly exporters: readonly SeenExporter[];
  readonly unseen: readonly Unseen[];
}

/** The parameters of the readings. */
export interface PagesOptions extends PageOptions {
  /** The time between the beginnings of the two rounds. */
  readonly betweenMillis: number;
  /** Returns the time of a reading, milliseconds since the epoch. */
  readonly now: () => number;
}

const PAGES_AT_ONCE = 50;
const LINE_END = Buffer.from("\n");

/**
 * Reads the page of every exporter twice, through the API server or, without the permission for that, at the pod's own address. The pages of
 * companions are appended, as in the collector. A failure of a companion only loses its own page. Fails with the signal's reason.
 */
export async function seePages(
  api: ApiConnection,
  found: readonly FoundExporter[],
  options: PagesOptions,
): Promise<SeenPages> {
  const { betweenMillis, now, signal } = options;
  const proxy = createProxyReader(api, options);
  const pods = createPodReader(options);
  const readings = found.map((): PageReading[] => []);
  /** Exporters whose page needs the missing permission. */
  const refused = new Set<FoundExporter>();

  async function read(exporter: FoundExporter, address: PageAddress): Promise<PageResult> {
    const proxied = await proxy.read(address);
    if (proxied !== "forbidden") return proxied;
    const direct = await pods.read(address.url);
    if ("failure" in direct) refused.add(exporter);
    return direct;
  }

  async function readWhole(exporter: FoundExporter): Promise<PageResult> {
    const addresses = [exporter.page, ...exporter.companions];
    const [own, ...beside] = await Promise.all(addresses.map((address) => read(exporter, address)));
    const pages = beside.flatMap((each) => ("page" in each ? [each.page, LINE_END] : []));
    if (!("page" in own!) || pages.length === 0) return own!;
    return { page: Buffer.concat([own.page, LINE_END, ...pages]) };
  }

  const round = (): Promise<void> =>
    inTurns(found, PAGES_AT_ONCE, async (exporter, index) => {
      signal.throwIfAborted();
      const atMillis = now();
      const result = await readWhole(exporter);
      readings[index]!.push({ atMillis, ...("page" in result ? { page: packed(result.page) } : result) });
    });

  try {
    const gap = pause(betweenMillis, signal);
    await round();
    await gap;
    await round();
  } finally {
    pods.close();
  }
  const exporters = found.map(({ name, node }, index) => ({ target: name, node, readings: readings[index]! }));
  return { exporters, unseen: refused.size === 0 ? [] : [withoutProxy(refused.size, found.length)] };
}

/** Returns a page that is kept packed: the pages of 500 exporters have 60 MB, and pack to a tenth. */
function packed(page: Buffer): () => Buffer {
  const bytes = deflateRawSync(page, { level: constants.Z_BEST_SPEED });
  return () => inflateRawSync(bytes);
}

function withoutProxy(refused: number, all: number): Unseen {
  return {
    what: "pods/proxy",
    why:
      `permission to get pods/proxy is missing, and ${refused} of ${all} exporters do not answer at their own address; ` +
      "grant it with: kubectl create clusterrole gpu-exporter-pages --verb=get --resource=pods/proxy; " +
      "kubectl create clusterrolebinding gpu-exporter-pages --clusterrole=gpu-exporter-pages --user=YOU",
    without: "the GPUs of their nodes have no measurements",
  };
}
