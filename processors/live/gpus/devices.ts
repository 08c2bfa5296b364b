import { approximate } from "../../../domain/exact/rational.ts";
import { sampleKey } from "../../../domain/messages/scrape-message.ts";
import type { MigMeasure } from "../../../domain/share/mig-shape.ts";
import type { JoinedScrape } from "../../ingest/steps/join.ts";
import type { PricedNode, GpuPrice } from "../gpu-price.ts";
import type { IsOwn, LivePods } from "../pods.ts";
import { layOut, type NodeLayout } from "./layout.ts";
import { indexesOf, READINGS, readRows, type ColumnIndexes } from "./readings.ts";
import type { TargetSample } from "./rows.ts";
import { hourOf } from "../../../domain/time.ts";

/** The time after which a device without samples is removed, as Prometheus does with series that have gone. */
const FORGOTTEN_AFTER_MILLIS = 300_000;
const SWEEP_MILLIS = 60_000;

/** The series of a node, and the hourly price of each of its GPU models; NaN if no entry prices it. */
export interface DrawnNode {
  readonly layout: NodeLayout;
  readonly prices: readonly number[];
}

/** The devices of the nodes whose scrapes this processor gets, from their newest samples. */
export interface LiveDevices {
  /**
   * Takes a scrape and updates the labels of its devices. A failed scrape, a scrape older than the target's last one, and a scrape that is
   * too old to be current change nothing.
   */
  take(joined: JoinedScrape): void;
  /** Returns the nodes of own partitions, of one cluster if it is named. Other nodes and silent ones are removed. */
  nodes(cluster?: string): readonly LiveNode[];
  /** Returns a node's series, built again if holders, owners or devices have changed. */
  draw(node: LiveNode): DrawnNode;
}

/** The state of a node. Only `draw` reads it. */
export interface LiveNode {
  readonly cluster: string;
  readonly node: string;
  /** The targets by address. */
  readonly targets: Map<string, Target>;
  layout: NodeLayout | undefined;
  /** True if the layout is outdated because the targets have other devices or holders now. */
  isOld: boolean;
  /** The version of pods and owners when the layout was made. */
  version: number;
  prices: readonly number[];
  pricesHoldUntil: number;
}

interface Target extends TargetSample {
  readonly indexes: ColumnIndexes;
}

/**
 * Creates an empty view. A device that the newest page of an exporter no longer has is removed at once: a deleted instance must not appear
 * beside its replacements. A silent exporter is removed after five minutes.
 *
 * A GPU costs about 750 bytes: its labels, seven numbers, and its part of its node's and its workload's objects (`npm run bench --
 * gpu-metrics` measures it). Nothing else of samples is kept; shapes and holders are the pipeline's objects.
 */
export function createLiveDevices(options: {
  readonly pods: LivePods;
  readonly isOwn: IsOwn;
  readonly measure: MigMeasure;
  /** Undefined if no prices are to be shown. */
  readonly priceOf: ((node: PricedNode, model: string | undefined, atMillis: number) => GpuPrice) | undefined;
  readonly now: () => number;
}): LiveDevices {
  const { pods, isOwn, measure, priceOf, now } = options;
  const nodes = new Map<string, LiveNode>();
  let sweptAt = -Infinity;

  function isForgotten(live: LiveNode, oldest: number): boolean {
    for (const [address, { atMillis }] of live.targets) {
      if (atMillis >= oldest) continue;
      live.targets.delete(address);
      live.isOld = true;
    }
    return live.targets.size === 0 || !isOwn(live.cluster, live.node);
  }

  function sweep(): void {
    sweptAt = now();
    const oldest = sweptAt - FORGOTTEN_AFTER_MILLIS;
    for (const [key, live] of nodes) if (isForgotten(live, oldest)) nodes.delete(key);
  }

  function nodeOf(cluster: string, node: string): LiveNode {
    const key = sampleKey({ cluster, node });
    const known = nodes.get(key);
    if (known !== undefined) return known;
    const targets: LiveNode["targets"] = new Map();
    const fresh = { layout: undefined, isOld: true, version: -1, prices: [], pricesHoldUntil: 0 };
    const created: LiveNode = { cluster, node, targets, ...fresh };
    nodes.set(key, created);
    return created;
  }

  function pricesOf(live: LiveNode, { models, gpus }: NodeLayout): readonly number[] {
    const at = now();
    if (priceOf === undefined || at < live.pricesHoldUntil) return live.prices;
    const { cluster, node } = live;
    const machine = pods.node(cluster, node) ?? withoutKubernetes(cluster, node, gpus, at);
    const prices = models.map((model) => priceOf(machine, model, at));
    live.pricesHoldUntil = Math.min(...prices.map(({ untilMillis }) => untilMillis));
    live.prices = prices.map(({ perHour }) => (perHour === undefined ? Number.NaN : approximate(perHour)));
    return live.prices;
  }

  function draw(live: LiveNode): DrawnNode {
    const { cluster, node } = live;
    const version = pods.version(cluster, node);
    let { layout } = live;
    if (layout === undefined || live.isOld || live.version !== version) {
      const samples = [...live.targets.values()].toSorted((a, b) => b.atMillis - a.atMillis);
      const layOutAfter = (former: NodeLayout | undefined): NodeLayout =>
        layOut({ cluster, node, samples, pods, measure, former });
      layout = layOutAfter(layout);
      // The samples can determine the node's GPU count, and then pods hold other parts of them.
      if (pods.show(cluster, node, layout.gpus)) layout = layOutAfter(layout);
      Object.assign(live, { layout, isOld: false, version: pods.version(cluster, node), pricesHoldUntil: 0 });
    }
    return { layout, prices: pricesOf(live, layout) };
  }

  return {
    take({ scrape, holders }) {
      const { cluster, node, target, shape, failure } = scrape;
      // A collector's clock that is ahead must not make its later samples look late.
      const atMillis = Math.min(scrape.scrapedAtMillis, now());
      if (failure !== undefined || atMillis < now() - FORGOTTEN_AFTER_MILLIS) return;
      if (now() - sweptAt > SWEEP_MILLIS) sweep();
      const live = nodeOf(cluster, node);
      const known = live.targets.get(target);
      if (known !== undefined && atMillis < known.atMillis) return;
      const isSame = known !== undefined && known.shape === shape;
      const readings = isSame ? known.readings : new Float64Array(shape.devices.length * READINGS);
      const indexes = isSame ? known.indexes : indexesOf(shape.columns);
      readRows(scrape, indexes, readings);
      live.targets.set(target, { atMillis, shape, holders, readings, indexes });
      const isNew = !isSame || known.holders !== holders;
      live.isOld ||= isNew || live.targets.size > 1;
      // Building the labels of 100,000 GPUs takes seconds. They are built here, so that a request for the page does not wait for all of
      // them after a start.
      if (isNew) draw(live);
    },
    nodes(cluster) {
      sweep();
      const all = [...nodes.values()];
      return cluster === undefined ? all : all.filter((live) => live.cluster === cluster);
    },
    draw,
  };
}

/** Returns a machine that is known only from samples, as prices see it: as if it had joined at the start of this hour. */
function withoutKubernetes(cluster: string, node: string, count: number, atMillis: number): PricedNode {
  return { cluster, node, gpus: [{ count }], joined: hourOf(atMillis), labels: {} };
}
