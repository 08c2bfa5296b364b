import { parseExposition } from "../../collectors/exporters/exposition/parse.ts";
import type { Device } from "../../domain/device.ts";
import type { Scrape, ScrapeShape } from "../../domain/scrape.ts";
import { createHoldings } from "../../processors/ingest/holdings/holdings.ts";
import { createGpuPrices } from "../../processors/live/gpu-price.ts";
import { createLiveDevices, type LiveDevices } from "../../processors/live/gpus/devices.ts";
import { writeGpuPage } from "../../processors/live/gpus/page.ts";
import { createLivePods, type IsOwn } from "../../processors/live/pods.ts";
import type { FactListener } from "../../processors/ingest/followed-facts.ts";
import { createJoinStep } from "../../processors/ingest/steps/join.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { NOON } from "./facts.ts";

/** The values of a row, by canonical metric. */
export type Values = Readonly<Record<string, number>>;

/** A processor's view of GPUs, computed by the real join from the facts and scrapes of a test. */
export interface GpuWorld {
  readonly facts: Pick<FactListener, "workload" | "inventory" | "clusterFact">;
  readonly devices: LiveDevices;
  /** Milliseconds since the epoch; the clock of the processor. */
  now: number;
  isOwn: IsOwn;
  /** A scrape of gpu-a in cluster test, at the clock's time by default. */
  scrape(rows: readonly (Device & { readonly values: Values })[], given?: Partial<Scrape>): void;
  /** A scrape as it came. */
  take(scrape: Scrape): void;
  /** The page's text. */
  text(options?: { readonly cluster?: string; readonly withMoney?: boolean }): Promise<string>;
  /** The page's samples of one series, as read by the reference parser: the labels that are not empty, and the value. */
  series(name: string): Promise<readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[]>;
}

/** A price of 8 USD an hour for each GPU, teams by the pod's label or the namespace's. */
export const WORLD_CONFIG = `
prices: [{ from: 2026-01-01, match: {}, per: gpu-hour, list: "8" }]
owners: { team: [{ podLabel: team }, { namespaceLabel: team }], costCenter: [{ podLabel: cost-center }] }`;

/** A world at noon without facts and scrapes. */
export function gpuWorld(config = WORLD_CONFIG): GpuWorld {
  const { book, owners } = ledgerOf(parseConfig(config, { source: "test", folder: ".", env: {} }));
  const now = (): number => world.now;
  const pods = createLivePods(owners, "max", now);
  const holdings = createHoldings();
  const join = createJoinStep(holdings);
  const devices = createLiveDevices({
    pods,
    isOwn: (cluster, node) => world.isOwn(cluster, node),
    measure: "max",
    priceOf: createGpuPrices(book, (_, error) => {
      throw error;
    }),
    now,
  });
  let sequence = 0;
  /** As in the decoder: scrapes of one shape share one object. */
  const shapes = new Map<string, ScrapeShape>();
  function shapeOf(exporter: string, columns: readonly string[], rows: readonly Device[]): ScrapeShape {
    const key = JSON.stringify([exporter, columns, rows]);
    const shape = shapes.get(key) ?? { exporter, columns, devices: rows };
    shapes.set(key, shape);
    return shape;
  }
  const world: GpuWorld = {
    facts: {
      workload(fact) {
        holdings.workload(fact);
        pods.workload(fact);
      },
      inventory(fact) {
        holdings.inventory(fact);
        pods.inventory(fact);
      },
      clusterFact(fact) {
        holdings.clusterFact(fact);
        pods.clusterFact(fact);
      },
    },
    devices,
    now: NOON,
    isOwn: () => true,
    scrape(rows, given = {}) {
      const columns = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))];
      const scrape: Scrape = {
        cluster: "test",
        node: "gpu-a",
        target: "http://gpu-a:9400/metrics",
        collector: "c-0",
        epoch: 1,
        sequence: (sequence += 1),
        scrapedAtMillis: world.now,
        intervalMillis: 30_000,
        durationMicros: 900,
        dropped: {},
        shape: shapeOf(given.target ?? "dcgm-exporter", columns, rows.map(deviceOf)),
        values: Float64Array.from(rows.flatMap(({ values }) => columns.map((name) => values[name] ?? Number.NaN))),
        ...given,
      };
      world.take(scrape);
    },
    take(scrape) {
      const joined = join(scrape);
      if (joined.kind !== "ok") throw new Error("a join has no other outcome");
      devices.take(joined.value);
    },
    async text({ cluster, withMoney = true } = {}) {
      const chunks: Buffer[] = [];
      await writeGpuPage(devices, { cluster, currency: withMoney ? book.currency : undefined }, (chunk) => {
        chunks.push(Buffer.from(chunk));
        return Promise.resolve();
      });
      return Buffer.concat(chunks).toString();
    },
    async series(name) {
      const { samples } = parseExposition(Buffer.from(await world.text()));
      return samples
        .filter((sample) => sample.name === name)
        .map(
          ({ labels, value }) => [Object.fromEntries([...labels].filter(([, text]) => text !== "")), value!] as const,
        );
    },
  };
  return world;
}

function deviceOf(row: Device & { readonly values: Values }): Device {
  return Object.fromEntries(Object.entries(row).filter(([field]) => field !== "values"));
}
