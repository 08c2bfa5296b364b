import { gpuKey, instanceKey, sharingKey, type Device } from "../../../domain/device.ts";
import type { Holder } from "../../../domain/holder.ts";
import { METRICS, type MetricUnit } from "../../../domain/metric.ts";
import type { Scrape } from "../../../domain/scrape.ts";

/** The text columns, with a function that returns the value from the device, its holder and the scrape. */
export const SAMPLE_TEXTS: Readonly<
  Record<string, (device: Device, holder: Holder, scrape: Scrape) => string | undefined>
> = {
  cluster: (_device, _holder, scrape) => scrape.cluster,
  node: (_device, _holder, scrape) => scrape.node,
  gpu_key: gpuKey,
  instance: instanceKey,
  sharing: sharingKey,
  gpu: ({ gpu }) => gpu,
  uuid: ({ uuid }) => uuid,
  pci_bus_id: ({ pciBusId }) => pciBusId,
  model: ({ model }) => model,
  serial: ({ serial }) => serial,
  driver_version: ({ driverVersion }) => driverVersion,
  profile: ({ profile, claim }) => profile ?? claim?.migProfile,
  hostname: ({ hostname }) => hostname,
  namespace: ({ namespace }) => namespace,
  pod: ({ pod }) => pod,
  pod_uid: ({ podUid }) => podUid,
  container: ({ container }) => container,
  vgpu: ({ vgpu }) => vgpu,
  hpc_job: ({ hpcJob }) => hpcJob,
  claim_name: ({ claim }) => claim?.name,
  claim_namespace: ({ claim }) => claim?.namespace,
  claim_driver: ({ claim }) => claim?.driver,
  claim_pool: ({ claim }) => claim?.pool,
  claim_device: ({ claim }) => claim?.device,
  xid_message: ({ xidMessage }) => xidMessage,
  holder_namespace: (_device, { namespace }) => namespace,
  holder_pod: (_device, { name }) => name,
  evidence: (_device, { evidence }) => evidence,
  holder_uid: (_device, { uid }) => uid,
};

/** For each unit: its exact type in the table, its bytes, and the factor for its values. */
export const UNIT_TYPES: Readonly<Record<MetricUnit, readonly [type: string, bytes: 4 | 8, scale: number]>> = {
  ratio: ["Decimal(9, 6)", 4, 1e6],
  hertz: ["UInt64", 8, 1],
  bytes: ["UInt64", 8, 1],
  bytes_per_second: ["UInt64", 8, 1],
  celsius: ["Decimal(9, 3)", 4, 1e3],
  watts: ["Decimal(9, 3)", 4, 1e3],
  joules: ["Decimal(18, 3)", 8, 1e3],
  seconds: ["Decimal(18, 6)", 8, 1e6],
  count: ["UInt64", 8, 1],
};

/** The columns of `gpu_samples` that are neither texts nor metrics. */
export const OTHER_SAMPLE_TYPES = {
  labels: "Map(LowCardinality(String), String)",
  repeats_gpu: "Bool",
  repeats_device: "Bool",
  holders: "UInt16",
  scraped_at: "DateTime64(3, 'UTC')",
  interval_ms: "UInt32",
  activity_ppm: "Nullable(UInt32)",
  process_activity_ppm: "Nullable(UInt32)",
  other: "Map(LowCardinality(String), Float64)",
} as const;

/** Every column of `gpu_samples` with its ClickHouse type. Texts use a dictionary, whether or not the table stores one. */
export const SAMPLE_TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(SAMPLE_TEXTS).map((name) => [name, "LowCardinality(String)"])),
  ...OTHER_SAMPLE_TYPES,
  ...Object.fromEntries(METRICS.map(({ name, unit }) => [name, `Nullable(${UNIT_TYPES[unit][0]})`])),
};
