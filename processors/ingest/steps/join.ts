import type { Holder } from "../../../domain/holder.ts";
import type { ClusterHoldings, Holdings, NodeHoldings } from "../../../domain/holding.ts";
import type { Scrape, ScrapeShape } from "../../../domain/scrape.ts";
import type { Outcome } from "./outcome.ts";
import { layoutOf, rowHolders, type Layout } from "./join/row-holders.ts";
import { momentOf } from "../../../domain/attribution/moment.ts";
import { createProofs, type Proofs } from "../../../domain/attribution/proofs.ts";

/** A scrape with the holder of each row's device, as known when the scrape is stored. */
export interface JoinedScrape {
  readonly scrape: Scrape;
  /** The same array for all scrapes of a shape, as long as nothing changes. */
  readonly holders: readonly Holder[];
}

/** A cached join result and the conditions under which it stays valid. */
interface Found {
  readonly holders: readonly Holder[];
  readonly layout: Layout;
  readonly from: number;
  readonly until: number;
  readonly cluster: ClusterHoldings;
  /** Set if the result depends on facts of other nodes. */
  readonly clusterVersion: number | undefined;
  readonly node: NodeHoldings | undefined;
  readonly nodeVersion: number | undefined;
  readonly proofs: Proofs;
  readonly proofsVersion: number;
}

/**
 * Creates the step that joins each row to its holder, by the strongest available evidence (`domain/attribution/ladder.ts`). The decoder returns the same
 * shape object for all scrapes of one shape. Each shape is joined once, and again when a pod begins or ends, when a fact of its node
 * arrives, or when a label proves something new.
 */
export function createJoinStep(holdings: Holdings): (scrape: Scrape) => Outcome<JoinedScrape> {
  const found = new WeakMap<ScrapeShape, Found>();
  const proven = new WeakMap<NodeHoldings, Proofs>();

  function proofsOf(node: NodeHoldings | undefined): Proofs {
    const proofs = node === undefined ? undefined : proven.get(node);
    if (proofs !== undefined) return proofs;
    const created = createProofs();
    if (node !== undefined) proven.set(node, created);
    return created;
  }

  function find({ cluster: clusterName, node: nodeName, scrapedAtMillis }: Scrape, layout: Layout): Found {
    const cluster = holdings.cluster(clusterName);
    const node = cluster.node(nodeName);
    const proofs = proofsOf(node);
    const moment = momentOf(cluster, nodeName, node, scrapedAtMillis);
    proofs.keep(moment.node.pods);
    const holders = rowHolders(layout, moment, proofs);
    const { from, until, beyond } = moment;
    return {
      holders,
      layout,
      from,
      until,
      cluster,
      clusterVersion: beyond ? cluster.version : undefined,
      node,
      nodeVersion: node?.version,
      proofs,
      proofsVersion: proofs.version,
    };
  }

  return function join(scrape) {
    const before = found.get(scrape.shape);
    if (before !== undefined && isStill(before, scrape.scrapedAtMillis)) {
      return { kind: "ok", value: { scrape, holders: before.holders } };
    }
    const now = find(scrape, before?.layout ?? layoutOf(scrape.shape));
    // `scrape-rows.ts` caches rows by the holders array, so an equal result keeps the same array.
    const holders = before !== undefined && isEqual(before.holders, now.holders) ? before.holders : now.holders;
    found.set(scrape.shape, { ...now, holders });
    return { kind: "ok", value: { scrape, holders } };
  };
}

function isStill(found: Found, millis: number): boolean {
  const { from, until, cluster, clusterVersion, node, nodeVersion, proofs, proofsVersion } = found;
  return (
    from <= millis &&
    millis < until &&
    node?.version === nodeVersion &&
    proofs.version === proofsVersion &&
    (clusterVersion === undefined || cluster.version === clusterVersion)
  );
}

function isEqual(some: readonly Holder[], others: readonly Holder[]): boolean {
  return some.every((one, row) => {
    const other = others[row]!;
    return (
      one.name === other.name &&
      one.uid === other.uid &&
      one.namespace === other.namespace &&
      one.evidence === other.evidence &&
      one.holders === other.holders
    );
  });
}
