import type { Device } from "../../domain/device.ts";
import type { Holder } from "../../domain/holder.ts";
import { activityPpm } from "../../domain/activity.ts";

/** One row of a scrape as a test makes it. Absent values are values that the exporter did not give. */
export interface RawSample {
  readonly node: string;
  readonly device: Device;
  readonly holder: Holder;
  readonly t: number;
  readonly intervalMillis: number;
  readonly values: Readonly<Record<string, number>>;
}

/** A row of a rollup: every column's value as text, `null` for NULL. */
export type RollupRow = Record<string, string | null>;

const MEANS = {
  gr_engine: "gr_engine_active_ratio",
  sm: "sm_active_ratio",
  tensor: "tensor_active_ratio",
  dram: "dram_active_ratio",
} as const;
const INCREASES = {
  ecc_sbe_increase: "ecc_sbe_volatile_total",
  ecc_dbe_increase: "ecc_dbe_volatile_total",
  correctable_remapped_rows_increase: "correctable_remapped_rows_total",
  uncorrectable_remapped_rows_increase: "uncorrectable_remapped_rows_total",
  pcie_replay_increase: "pcie_replay_total",
} as const;

/** A sample as a rollup counts it. A holder that did not have the device for itself is left out, and the device counts as shared. */
interface Heard extends RawSample {
  readonly isCommon: boolean;
}

function heardOf(sample: RawSample): Heard {
  const isCommon = sample.holder.holders > 1 || sample.holder.evidence === "node";
  const holder = isCommon ? { ...sample.holder, namespace: "", name: "", uid: "" } : sample.holder;
  return { ...sample, isCommon, holder };
}

interface Said {
  readonly sample: RawSample;
  readonly scope: "device" | "process";
  readonly shared: boolean;
  readonly until: number;
  readonly next: RawSample | undefined;
}

/**
 * The definition of a rollup's rows, in the simplest form: each sample holds up to the next sample of its device, for 2.5 intervals at most, and a
 * row sums the samples within its bucket. The store's results are compared with it.
 */
export function referenceRollup(
  samples: readonly RawSample[],
  window: { readonly cluster: string; readonly start: number; readonly end: number; readonly bucketMillis: number },
): RollupRow[] {
  const rows: RollupRow[] = [];
  for (const ofDevice of groups(samples.map(heardOf), ({ node, device }) => [
    node,
    device.uuid,
    device.instance ?? "",
  ])) {
    const said = sayings(ofDevice);
    const byRow = groups(said, ({ scope, shared, sample: { holder } }) =>
      shared && scope === "device" ? [scope, shared, "", ""] : [scope, shared, holder.namespace, holder.name],
    );
    for (const ofRow of byRow) {
      for (let from = window.start; from < window.end; from += window.bucketMillis) {
        const to = from + window.bucketMillis;
        const heard = ofRow.filter(({ sample, until }) => until > sample.t && until > from && sample.t < to);
        if (heard.length > 0) rows.push(rowOf(window.cluster, heard, from, to));
      }
    }
  }
  return rows;
}

function sayings(ofDevice: readonly Heard[]): Said[] {
  const moments = groups(ofDevice, ({ t }) => [t]).toSorted((a, b) => a[0]!.t - b[0]!.t);
  return moments.flatMap((rows, index) => {
    const unique = groups(rows, ({ device }) => [device.namespace, device.pod, device.container]).map(([one]) => one!);
    const [speaker, ...others] = unique.toSorted(
      (a, b) =>
        Number(a.device.repeatsDevice ?? false) - Number(b.device.repeatsDevice ?? false) ||
        compare(a.holder.namespace, b.holder.namespace) ||
        compare(a.holder.name, b.holder.name) ||
        compare(a.device.container ?? "", b.device.container ?? ""),
    );
    const next = moments[index + 1]?.find(({ device }) => device.repeatsDevice !== true);
    const reach = Math.floor(speaker!.intervalMillis * 2.5);
    const until = Math.min(next?.t ?? Infinity, speaker!.t + reach);
    const base = { until, next };
    const isShared = (sample: Heard): boolean =>
      others.length > 0 ||
      sample.isCommon ||
      "process_utilization_ratio" in sample.values ||
      "process_fb_used_bytes" in sample.values;
    const pods = groups(
      [speaker!, ...others].filter((sample) => isShared(sample) && sample.holder.name !== ""),
      ({ holder }) => [holder.namespace, holder.name],
    );
    return [
      { ...base, sample: speaker!, scope: "device" as const, shared: isShared(speaker!) },
      ...pods.map(([sample]) => ({ ...base, sample: sample!, scope: "process" as const, shared: true })),
    ];
  });
}

function rowOf(cluster: string, heard: readonly Said[], from: number, to: number): RollupRow {
  const { scope, shared, sample: one } = heard[0]!;
  const last = heard.toSorted((a, b) => a.sample.t - b.sample.t).at(-1)!.sample;
  const isDevice = scope === "device";
  const pieces = heard.map((said) => {
    const [begin, end] = [Math.max(said.sample.t, from), Math.min(said.until, to)];
    const isGpu = isDevice && said.sample.device.repeatsGpu !== true;
    return { ...said, begin, end, ms: end - begin, isGpu, isFollowed: isGpu && said.next?.t === said.until };
  });
  type Piece = (typeof pieces)[number];
  const sum = (of: (piece: Piece) => number | bigint): string =>
    String(pieces.reduce((total, piece) => total + BigInt(of(piece)), 0n));
  const max = (of: (values: Readonly<Record<string, number>>) => number | undefined): string | null => {
    const given = pieces.map(({ sample }) => of(sample.values)).filter((value) => value !== undefined);
    return given.length === 0 ? null : String(Math.max(...given));
  };
  const device = (name: string) => (values: Readonly<Record<string, number>>) => (isDevice ? values[name] : undefined);
  const process = (name: string) => (values: Readonly<Record<string, number>>) => (isDevice ? undefined : values[name]);
  const row: RollupRow = {
    cluster,
    node: one.node,
    gpu_key: one.device.uuid ?? "",
    instance: one.device.instance ?? "",
    scope,
    shared: String(shared),
    holder_namespace: shared && isDevice ? "" : one.holder.namespace,
    holder_pod: shared && isDevice ? "" : one.holder.name,
    bucket: iso(from).slice(0, 19),
    gpu: last.device.gpu ?? "",
    model: last.device.model ?? "",
    profile: last.device.profile ?? "",
    pod_uid: last.holder.uid,
    container: last.device.container ?? "",
    evidence: last.holder.evidence,
    samples: sum(({ sample }) => (sample.t >= from ? 1 : 0)),
    first_at: iso(Math.min(...pieces.map(({ begin }) => begin))),
    last_at: iso(Math.max(...pieces.map(({ end }) => end))),
    covered_ms: sum(({ ms }) => ms),
    activity_max_ppm: max((values) => (isDevice ? activityOf(values) : undefined)),
    process_activity_max_ppm: max((values) => ppmOf(process("process_utilization_ratio")(values))),
    fb_used_max_bytes: max(device("fb_used_bytes")),
    fb_total_max_bytes: max((values) =>
      isDevice && values["fb_free_bytes"] !== undefined && values["fb_used_bytes"] !== undefined
        ? values["fb_used_bytes"] + values["fb_free_bytes"]
        : undefined,
    ),
    process_fb_used_max_bytes: max(process("process_fb_used_bytes")),
    power_max_mw: max((values) => inThousandths(device("power_watts")(values))),
    temperature_max_celsius: max(device("gpu_temperature_celsius")),
    memory_temperature_max_celsius: max(device("memory_temperature_celsius")),
    power_ms: sum(({ isGpu, ms, sample }) => (isGpu && sample.values["power_watts"] !== undefined ? ms : 0)),
    power_mw_ms: sum(({ isGpu, ms, sample }) => (isGpu ? ms * (inThousandths(sample.values["power_watts"]) ?? 0) : 0)),
    energy_ms: sum((piece) => (grown(piece, "energy_joules", 1000) === undefined ? 0 : piece.ms)),
    energy_mj: sum(energyOf),
    clocks_event_reasons: String(
      pieces.reduce((mask, { sample }) => mask | (device("clocks_event_reasons")(sample.values) ?? 0), 0),
    ),
    xid_codes: [...new Set(pieces.map(({ sample }) => device("xid_code")(sample.values) ?? 0))]
      .filter((code) => code > 0)
      .toSorted((a, b) => a - b)
      .join(),
  };
  const means: Record<string, (values: Readonly<Record<string, number>>) => number | undefined> = {
    activity: (values) => (isDevice ? activityOf(values) : undefined),
    process_activity: (values) => ppmOf(process("process_utilization_ratio")(values)),
  };
  for (const [name, column] of Object.entries(MEANS)) means[name] = (values) => ppmOf(device(column)(values));
  for (const [name, of] of Object.entries(means)) {
    row[`${name}_ms`] = sum(({ ms, sample }) => (of(sample.values) === undefined ? 0 : ms));
    row[`${name}_ppm_ms`] = sum(({ ms, sample }) => ms * (of(sample.values) ?? 0));
  }
  for (const [name, column] of Object.entries(INCREASES)) {
    row[name] = sum((piece) => (piece.next !== undefined && piece.next.t <= to ? (grown(piece, column, 1) ?? 0) : 0));
  }
  return row;

  /** The increase of a counter up to the next reading; after a fall, its new value. */
  function grown({ isFollowed, sample, next }: Piece, counter: string, scale: number): number | undefined {
    const [before, after] = [sample.values[counter], next?.values[counter]];
    if (!isFollowed || before === undefined || after === undefined) return undefined;
    return Math.round((after >= before ? after - before : after) * scale);
  }

  /** The energy of a piece: the whole is spread over the time between the readings, and rounded down at each cut. */
  function energyOf(piece: Piece): bigint {
    const whole = grown(piece, "energy_joules", 1000);
    if (whole === undefined) return 0n;
    const span = BigInt(piece.until - piece.sample.t);
    const upTo = (moment: number): bigint => (BigInt(whole) * BigInt(moment - piece.sample.t)) / span;
    return upTo(piece.end) - upTo(piece.begin);
  }
}

function activityOf(values: Readonly<Record<string, number>>): number | undefined {
  const ratios = [values["gr_engine_active_ratio"], values["gpu_utilization_ratio"], values["sm_active_ratio"]];
  return activityPpm(...ratios.map((ratio) => ratio ?? Number.NaN));
}

function ppmOf(ratio: number | undefined): number | undefined {
  return ratio === undefined ? undefined : Math.round(ratio * 1e6);
}

function inThousandths(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 1000);
}

function iso(millis: number): string {
  return new Date(millis).toISOString().replace("T", " ").replace("Z", "");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function groups<Value>(values: readonly Value[], by: (value: Value) => readonly unknown[]): Value[][] {
  const found = new Map<string, Value[]>();
  for (const value of values) {
    const key = JSON.stringify(by(value));
    const group = found.get(key);
    if (group === undefined) found.set(key, [value]);
    else group.push(value);
  }
  return [...found.values()];
}
