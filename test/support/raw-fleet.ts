import fc from "fast-check";
import type { Device } from "../../domain/device.ts";
import { holderByLabels, type Holder } from "../../domain/holder.ts";
import type { Scrape } from "../../domain/scrape.ts";
import { createScrapeRowWriter, insertRows } from "../../processors/ingest/scrape-rows.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { RawSample } from "./rollup-reference.ts";

const COLUMNS = [
  "gr_engine_active_ratio",
  "gpu_utilization_ratio",
  "sm_active_ratio",
  "tensor_active_ratio",
  "dram_active_ratio",
  "fb_used_bytes",
  "fb_free_bytes",
  "process_utilization_ratio",
  "process_fb_used_bytes",
  "gpu_temperature_celsius",
  "memory_temperature_celsius",
  "power_watts",
  "energy_joules",
  "clocks_event_reasons",
  "xid_code",
  "ecc_dbe_volatile_total",
  "pcie_replay_total",
];

/** The samples of one scrape: the page of one node's exporter at one time. */
export type RawScrape = readonly RawSample[];

/** The holder to which the join assigns the first row: by its labels, another pod, or several. */
const JOINED = {
  label: holderByLabels,
  dra: (): Holder => ({ namespace: "ml", name: "claim-0", uid: "uid-claim-0", evidence: "dra", holders: 1 }),
  group: (): Holder => ({ namespace: "ml", name: "part-0", uid: "uid-part-0", evidence: "group", holders: 3 }),
  node: (): Holder => ({ namespace: "ml", name: "start-0", uid: "uid-start-0", evidence: "node", holders: 1 }),
} as const;

/** The shape of one scrape of a node; `lost` scrapes were never made. */
const tick = fc.record({
  lost: fc.boolean(),
  keep: fc.integer({ min: 0, max: 3 }),
  jitter: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 4_000 })),
  pod: fc.integer({ min: 0, max: 2 }),
  joined: fc.constantFrom("label", "label", "label", "dra", "group", "node"),
  busy: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
  tensor: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
  watts: fc.option(fc.integer({ min: 0, max: 900_000 }), { nil: undefined }),
  celsius: fc.integer({ min: 20, max: 95 }),
  bytes: fc.integer({ min: 0, max: 80_000_000_000 }),
  joules: fc.oneof(fc.integer({ min: 0, max: 50_000_000 }), fc.constant(undefined), fc.constant(-1)),
  reasons: fc.constantFrom(0, 0, 4, 64, 128),
  xid: fc.constantFrom(0, 0, 0, 79, 48),
  errors: fc.constantFrom(0, 0, 1, 3),
});

const node = fc.record({
  layout: fc.constantFrom("plain", "mig", "shared", "shared-with-processes"),
  intervalMillis: fc.constantFrom(30_000, 61_001, 300_000),
  // Often at the edges of buckets, where a millisecond matters.
  start: fc.oneof(
    fc.integer({ min: -5, max: 2 }).map((buckets) => buckets * 300_000),
    fc.integer({ min: -1_500_000, max: 600_000 }),
  ),
  ticks: fc.array(tick, { minLength: 1, maxLength: 60 }),
});

/** Small fleets around a time, with gaps, MIG, sharing pods, changing holders, falling counters and missing values. */
export function rawFleet(around: number): fc.Arbitrary<readonly RawScrape[]> {
  return fc.array(node, { minLength: 1, maxLength: 3 }).map((nodes) =>
    nodes.flatMap(({ layout, intervalMillis, start, ticks }, index) => {
      const counters = { energy: 1_000_000, errors: 5 };
      return ticks.flatMap((each, number): RawScrape[] => {
        if (each.joules === -1) counters.energy = 7;
        counters.energy += Math.max(0, each.joules ?? 0);
        counters.errors = each.reasons === 128 ? 0 : counters.errors + each.errors;
        if (each.lost && each.keep === 0) return [];
        const t = around + start + number * intervalMillis + each.jitter;
        return [
          devicesOf(layout, `n${index}`, each.pod).map((device, row) => {
            const processes = layout === "shared-with-processes" && device.pod !== undefined;
            const values = Object.entries({
              gr_engine_active_ratio: each.busy === undefined ? undefined : (each.busy ^ (row * 5)) / 1e6,
              gpu_utilization_ratio: row === 1 ? 0.25 : undefined,
              sm_active_ratio: each.tensor,
              tensor_active_ratio: each.tensor,
              dram_active_ratio: each.busy,
              fb_used_bytes: each.bytes,
              fb_free_bytes: each.pod === 1 ? undefined : 80_000_000_000 - each.bytes,
              process_utilization_ratio: processes ? (each.celsius + row) / 1000 : undefined,
              process_fb_used_bytes: processes ? each.bytes : undefined,
              gpu_temperature_celsius: each.celsius + row,
              power_watts: each.watts === undefined ? undefined : each.watts / 1000,
              energy_joules: each.joules === undefined ? undefined : counters.energy / 1000 + row,
              clocks_event_reasons: each.reasons,
              xid_code: each.xid,
              ecc_dbe_volatile_total: counters.errors,
              pcie_replay_total: each.pod === 2 ? undefined : counters.errors * 2,
            }).map(([name, value]) => [
              name,
              /sm_|tensor|dram/.test(name) && value !== undefined ? value / 1e6 : value,
            ]);
            return {
              node: `n${index}`,
              device,
              holder: row === 0 ? JOINED[each.joined](device) : holderByLabels(device),
              t,
              intervalMillis,
              values: Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Record<string, number>,
            };
          }),
        ];
      });
    }),
  );
}

function devicesOf(layout: string, of: string, pod: number): readonly Device[] {
  const gpu = (index: number): Device => ({ gpu: String(index), uuid: `GPU-${of}-${index}`, model: "NVIDIA H100" });
  const held = (device: Device, name: string, container = "main"): Device => ({
    ...device,
    namespace: "ml",
    pod: name,
    podUid: `uid-${name}`,
    container,
  });
  if (layout === "plain") return [pod === 0 ? gpu(0) : held(gpu(0), `train-${pod}`), gpu(1)];
  if (layout === "mig") {
    return [
      held({ ...gpu(0), instance: "1", profile: "3g.40gb" }, `train-${pod}`),
      { ...gpu(0), instance: "2", profile: "1g.10gb", repeatsGpu: true },
    ];
  }
  if (pod === 0) return [held(gpu(0), "infer-0")];
  const repeats = { repeatsGpu: true, repeatsDevice: true } as const;
  return [
    held(gpu(0), "infer-1"),
    held({ ...gpu(0), ...repeats }, "infer-0"),
    ...(pod === 2 ? [held({ ...gpu(0), ...repeats }, "infer-1", "sidecar"), { ...gpu(0), ...repeats }] : []),
  ];
}

/** Stores scrapes as the processor does, each at its given offset of partition 0. */
export async function insertRaw(
  store: StoreClient,
  cluster: string,
  scrapes: readonly RawScrape[],
  firstPosition = 0,
): Promise<void> {
  const writer = createScrapeRowWriter();
  scrapes.forEach((scrape, index) => {
    const one = scrape[0]!;
    const shape = { exporter: "dcgm-exporter", columns: COLUMNS, devices: scrape.map(({ device }) => device) };
    const values = Float64Array.from(
      scrape.flatMap((sample) => COLUMNS.map((name) => sample.values[name] ?? Number.NaN)),
    );
    const written: Scrape = {
      cluster,
      node: one.node,
      target: `http://${one.node}:9400/metrics`,
      collector: "c-0",
      epoch: 1,
      sequence: one.t,
      scrapedAtMillis: one.t,
      intervalMillis: one.intervalMillis,
      durationMicros: 900,
      dropped: {},
      shape,
      values,
    };
    writer.append(
      { scrape: written, holders: scrape.map(({ holder }) => holder) },
      { partition: 0, offset: firstPosition + index },
    );
  });
  await insertRows(store, writer.take());
}
