import type { StoreClient } from "../../runtime/store/client.ts";

/** An attempt to read a page, with its rows. Times are milliseconds since the epoch. */
export interface ServingScrape {
  readonly at: number;
  readonly target: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly podUid?: string;
  readonly exporter?: string;
  readonly failure?: string;
  /** The start of the collector's process. */
  readonly epoch?: number;
  readonly series?: readonly ServingSample[];
}

/** A row of a page: its identity and its values by the names of the canonical metrics. */
export interface ServingSample {
  readonly kind?: "engine" | "frontend" | "gateway";
  readonly model?: string;
  readonly adapter?: string;
  readonly part?: string;
  readonly tenant?: string;
  readonly values: Readonly<Record<string, number>>;
}

export const SERVING_INTERVAL = 15_000;

/** Stores attempts as the rows that a processor would insert. */
export async function insertServing(
  store: StoreClient,
  cluster: string,
  scrapes: readonly ServingScrape[],
): Promise<void> {
  const pageOf = ({ at, target, namespace = "chat", pod = target, podUid = "", exporter = "vllm" }: ServingScrape) => ({
    cluster,
    node: "n",
    namespace,
    pod,
    pod_uid: podUid,
    target,
    scraped_at: new Date(at).toISOString(),
    interval_ms: SERVING_INTERVAL,
    exporter,
  });
  const samples = scrapes.flatMap((scrape) =>
    (scrape.series ?? []).map(({ kind = "engine", model = "m", adapter = "", part = "", tenant = "", values }) => ({
      ...pageOf(scrape),
      kind,
      model,
      adapter,
      part,
      tenant,
      ...values,
    })),
  );
  if (samples.length > 0) await store.insertJson("serving_samples", samples);
  await store.insertJson(
    "serving_scrapes",
    scrapes.map((scrape, index) => ({
      ...pageOf(scrape),
      collector: "c",
      epoch: new Date(scrape.epoch ?? 0).toISOString(),
      series: scrape.series?.length ?? 0,
      failure: scrape.failure ?? "",
      partition: 0,
      position: index,
    })),
  );
}
