import type { StoreClient } from "../../runtime/store/client.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";

/** The data of a ledger before its first charge, from the last minutes. */
export interface Beginning {
  /** Targets whose last scrape succeeded, and their GPUs and parts of GPUs. */
  readonly targets: number;
  readonly devices: number;
  /** Targets whose last scrape failed, and the reason of one of them. */
  readonly failing: number;
  readonly failure: string;
  /** Nodes with GPUs, and pods, that a watcher has reported. */
  readonly nodes: number;
  readonly pods: number;
}

/** The time in which a target counts. The longest interval of scrapes is an hour, and a stranger looks after minutes. */
const RECENT_MILLIS = 15 * MINUTE_MILLIS;

const BEGINNING = `
SELECT (SELECT count() FROM runs WHERE kind IN ('charge', 'correction')) > 0 AS isCharged,
  toFloat64(countIf(failed = '')) AS targets, toFloat64(sumIf(seen, failed = '')) AS devices,
  toFloat64(countIf(failed != '')) AS failing, anyIf(concat(target, ': ', failed), failed != '') AS failure,
  (SELECT toFloat64(uniqExact(cluster, node)) FROM inventory_facts WHERE gpus > 0) AS nodes,
  (SELECT toFloat64(uniqExact(uid)) FROM workload_facts) AS pods
FROM (
  SELECT target, argMax(failure, scraped_at) AS failed, argMax(devices, scraped_at) AS seen
  FROM scrapes WHERE scraped_at >= fromUnixTimestamp64Milli({since:Int64}) GROUP BY cluster, target
)`;

/** Reads what is there before the first charge; undefined if there are charges. Fails with a `StoreError`. */
export async function readBeginning(store: Pick<StoreClient, "query">, now: number): Promise<Beginning | undefined> {
  const since = now - RECENT_MILLIS;
  const [found] = await store.query<Beginning & { readonly isCharged: number }>(BEGINNING, { since });
  const { isCharged, ...beginning } = found!;
  return Number(isCharged) === 0 ? beginning : undefined;
}
