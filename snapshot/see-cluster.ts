import type { ApiConnection } from "../collectors/kubernetes/api/connection.ts";
import { EXPORTER_SELECTORS, type PodSelector } from "../collectors/kubernetes/selectors.ts";
import type { OwnerKinds } from "../collectors/kubernetes/owners/kinds.ts";
import type { ResourceNames } from "../collectors/kubernetes/projection/gpu-resource.ts";
import { createExporterPods } from "./see/exporter-pods.ts";
import { seeObjects } from "./see/objects.ts";
import { seePages } from "./see/pages.ts";
import type { Seen } from "./seen.ts";

/** The parameters of a look at a cluster. */
export interface SeeOptions {
  /** The longest wait for a page, and the longest silence of the API server. */
  readonly timeoutMillis: number;
  readonly signal: AbortSignal;
  /** The time between the beginnings of the two readings of pages; 5 s by default. */
  readonly betweenMillis?: number;
  /** This machine's clock, milliseconds since the epoch. The times in the result are corrected to the API server's clock. */
  readonly now: () => number;
  /** The kinds of owners of pods. */
  readonly kinds: OwnerKinds;
  /** Resource names from the configuration. */
  readonly resourceNames?: ResourceNames;
  /** The selectors of exporters' pods; {@link EXPORTER_SELECTORS} by default. */
  readonly selectors?: readonly PodSelector[];
}

const BETWEEN_MILLIS = 5_000;

/**
 * Reads the objects of a cluster once and the pages of its exporters twice. It needs read permissions only. Parts that cannot be read are
 * unseen. Fails with an `ApiError` if the server cannot be used, or if neither nodes nor pods can be listed, and with the signal's reason.
 */
export async function seeCluster(api: ApiConnection, options: SeeOptions): Promise<Seen> {
  const { betweenMillis = BETWEEN_MILLIS, selectors = EXPORTER_SELECTORS } = options;
  const pods = createExporterPods(selectors);
  const { objects, unseen } = await seeObjects(api, pods, options);
  // The responses of the pod proxy have the times of the pods' nodes, which change the clock of the connection.
  const { skewMillis } = api.clock;
  const now = (): number => options.now() + skewMillis;
  const atMillis = now();
  const pages = await seePages(api, pods.found(), { ...options, betweenMillis, now });
  return {
    atMillis,
    objects,
    exporters: pages.exporters,
    unseen: [...unseen, ...pods.refused(), ...pages.unseen],
  };
}
