import { activityPpm } from "../domain/activity.ts";
import { gpuKey, instanceKey, sharingKey, type Device } from "../domain/device.ts";
import type { Holder } from "../domain/holder.ts";
import { METRICS, METRIC_BY_NAME, type MetricUnit } from "../domain/metric.ts";
import type { Scrape } from "../domain/scrape.ts";
import { createRowBinaryWriter, type RowBinaryWriter } from "../runtime/store/row-binary.ts";
import type { JoinedScrape } from "./steps/join.ts";

/** A message's place on the bus. */
export interface BusPlace {
  readonly partition: number;
  readonly offset: number;
}

const IDENTITY_COLUMNS = [
  "cluster",
  "node",
  "gpu_key",
  "instance",
  "sharing",
  "gpu",
  "uuid",
  "pci_bus_id",
  "model",
  "serial",
  "driver_version",
  "profile",
  "hostname",
  "namespace",
  "pod",
  "pod_uid",
  "container",
  "vgpu",
  "hpc_job",
  "claim_name",
  "claim_namespace",
  "claim_driver",
  "claim_pool",
  "claim_device",
  "xid_message",
  "labels",
  "repeats_gpu",
  "repeats_device",
  "holder_namespace",
  "holder_pod",
  "evidence",
  "holder_uid",
] as const;

/** The columns of an insert into `gpu_samples`, in the order in which rows are written. */
export const SAMPLE_COLUMNS: readonly string[] = [
  ...IDENTITY_COLUMNS,
  "holders",
  "scraped_at",
  "interval_ms",
  "activity_ppm",
  "process_activity_ppm",
  ...METRICS.map(({ name }) => name),
  "other",
];

/** The columns of an insert into `scrapes`, in the order in which rows are written. */
export const SCRAPE_COLUMNS: readonly string[] = [
  "cluster",
  "node",
  "target",
  "collector",
  "scraped_at",
  "epoch",
  "sequence",
  "interval_ms",
  "duration_us",
  "exporter",
  "devices",
  "failure",
  "failure_detail",
  "dropped",
  "partition",
  "position",
];

/** The scale of each unit's exact type in the tables: Decimal(9, 6) for ratios, UInt64 for counts, and so on. */
const SCALE: Readonly<Record<MetricUnit, number>> = {
  ratio: 1e6,
  hertz: 1,
  bytes: 1,
  bytes_per_second: 1,
  celsius: 1e3,
  watts: 1e3,
  joules: 1e3,
  seconds: 1e6,
  count: 1,
};
const NARROW: ReadonlySet<MetricUnit> = new Set(["ratio", "celsius", "watts"]);
const SCALES = METRICS.map(({ unit }) => SCALE[unit]);
const IS_NARROW = METRICS.map(({ unit }) => NARROW.has(unit));
const LEAST = METRICS.map(({ unit }) => (unit === "celsius" ? -(2 ** 31) : 0));
const MOST = METRICS.map(({ unit }) => (NARROW.has(unit) ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER));

/** What stays the same between two scrapes of one shape with the same holders. */
interface ShapePlan {
  /** The identity columns of all rows as bytes, one row after the other. */
  readonly identities: Uint8Array;
  /** Where each row's identity ends in them. */
  readonly ends: readonly number[];
  /** Where the message has each canonical metric, or -1. */
  readonly places: Int32Array;
  readonly others: readonly { readonly name: string; readonly place: number }[];
  readonly activity: readonly number[];
  readonly processActivity: number;
}

/**
 * Writes scrapes as rows of `gpu_samples` and `scrapes`. What stays the same from scrape to scrape is written once and
 * remembered as long as the joined holders live: keep the writer from insert to insert.
 */
export interface ScrapeRowWriter {
  /** Appends the rows of a scrape and returns how many rows of `gpu_samples` they are. */
  append(joined: JoinedScrape, place: BusPlace): number;
  /** The rows appended since the last call, in RowBinary. */
  take(): { readonly samples: Uint8Array; readonly scrapes: Uint8Array };
}

/** A writer with nothing in it. */
export function createScrapeRowWriter(): ScrapeRowWriter {
  const samples = createRowBinaryWriter();
  const scrapes = createRowBinaryWriter();
  const plans = new WeakMap<readonly Holder[], ShapePlan>();

  return {
    append({ scrape, holders }, place) {
      writeScrape(scrapes, scrape, place);
      let plan = plans.get(holders);
      if (plan === undefined) plans.set(holders, (plan = planShape(scrape, holders)));
      const width = scrape.shape.columns.length;
      let start = 0;
      for (const [row, end] of plan.ends.entries()) {
        samples.raw(plan.identities.subarray(start, end));
        samples.int64(scrape.scrapedAtMillis);
        samples.uint32(scrape.intervalMillis);
        writeValues(samples, plan, scrape.values, row * width);
        start = end;
      }
      return plan.ends.length;
    },
    take: () => ({ samples: samples.take(), scrapes: scrapes.take() }),
  };
}

function writeValues(writer: RowBinaryWriter, plan: ShapePlan, values: Float64Array, base: number): void {
  const at = (place: number): number => (place < 0 ? Number.NaN : values[base + place]!);
  const [graphics, utilization, sm] = plan.activity;
  writePpm(writer, activityPpm(at(graphics!), at(utilization!), at(sm!)));
  writePpm(writer, activityPpm(at(plan.processActivity)));
  for (let metric = 0; metric < SCALES.length; metric++) {
    const scaled = Math.round(at(plan.places[metric]!) * SCALES[metric]!);
    // The collector keeps values within these bounds; whatever else comes over the bus must not end the batch.
    if (scaled >= LEAST[metric]! && scaled <= MOST[metric]!) {
      writer.uint8(0);
      if (IS_NARROW[metric] === true) writer.int32(scaled);
      else writer.int64(scaled);
    } else {
      writer.uint8(1);
    }
  }
  const others = plan.others.filter(({ place }) => !Number.isNaN(at(place)));
  writer.map(
    others.map(({ name, place }) => [name, at(place)] as const),
    (value) => writer.float64(value),
  );
}

function writePpm(writer: RowBinaryWriter, ppm: number | undefined): void {
  writer.uint8(ppm === undefined ? 1 : 0);
  if (ppm !== undefined) writer.uint32(ppm);
}

function planShape(scrape: Scrape, holders: readonly Holder[]): ShapePlan {
  const { columns, devices } = scrape.shape;
  const place = (name: string): number => columns.indexOf(name);
  const writer = createRowBinaryWriter(1024);
  const ends = devices.map((device, row) => {
    writeIdentity(writer, scrape, device, holders[row]!);
    return writer.length;
  });
  return {
    identities: writer.take().slice(),
    ends,
    places: Int32Array.from(METRICS, ({ name }) => place(name)),
    others: columns.map((name, index) => ({ name, place: index })).filter(({ name }) => !METRIC_BY_NAME.has(name)),
    activity: ["gr_engine_active_ratio", "gpu_utilization_ratio", "sm_active_ratio"].map(place),
    processActivity: place("process_utilization_ratio"),
  };
}

function writeIdentity(writer: RowBinaryWriter, scrape: Scrape, device: Device, holder: Holder): void {
  const { claim } = device;
  const identity: Record<(typeof IDENTITY_COLUMNS)[number], string | boolean | Readonly<Record<string, string>>> = {
    cluster: scrape.cluster,
    node: scrape.node,
    gpu_key: gpuKey(device),
    instance: instanceKey(device),
    sharing: sharingKey(device),
    gpu: device.gpu ?? "",
    uuid: device.uuid ?? "",
    pci_bus_id: device.pciBusId ?? "",
    model: device.model ?? "",
    serial: device.serial ?? "",
    driver_version: device.driverVersion ?? "",
    profile: device.profile ?? claim?.migProfile ?? "",
    hostname: device.hostname ?? "",
    namespace: device.namespace ?? "",
    pod: device.pod ?? "",
    pod_uid: device.podUid ?? "",
    container: device.container ?? "",
    vgpu: device.vgpu ?? "",
    hpc_job: device.hpcJob ?? "",
    claim_name: claim?.name ?? "",
    claim_namespace: claim?.namespace ?? "",
    claim_driver: claim?.driver ?? "",
    claim_pool: claim?.pool ?? "",
    claim_device: claim?.device ?? "",
    xid_message: device.xidMessage ?? "",
    labels: device.labels ?? {},
    repeats_gpu: device.repeatsGpu === true,
    repeats_device: device.repeatsDevice === true,
    holder_namespace: holder.namespace,
    holder_pod: holder.name,
    evidence: holder.evidence,
    holder_uid: holder.uid,
  };
  for (const column of IDENTITY_COLUMNS) {
    const value = identity[column];
    if (typeof value === "string") writer.string(value);
    else if (typeof value === "boolean") writer.bool(value);
    else writer.map(Object.entries(value), (text) => writer.string(text));
  }
  writer.uint16(Math.min(holder.holders, 2 ** 16 - 1));
}

function writeScrape(writer: RowBinaryWriter, scrape: Scrape, place: BusPlace): void {
  writer.string(scrape.cluster);
  writer.string(scrape.node);
  writer.string(scrape.target);
  writer.string(scrape.collector);
  writer.int64(scrape.scrapedAtMillis);
  writer.int64(scrape.epoch);
  writer.int64(scrape.sequence);
  writer.uint32(scrape.intervalMillis);
  writer.uint32(scrape.durationMicros);
  writer.string(scrape.shape.exporter);
  writer.uint32(scrape.shape.devices.length);
  writer.string(scrape.failure?.reason ?? "");
  writer.string(scrape.failure?.detail ?? "");
  writer.map(Object.entries(scrape.dropped), (count) => writer.uint32(count));
  writer.uint32(place.partition);
  writer.int64(place.offset);
}
