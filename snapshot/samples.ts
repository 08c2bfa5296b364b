import { activityPpm } from "../domain/activity.ts";
import { gpuKey, instanceKey, sharingKey, type Device } from "../domain/device.ts";
import { createScrapeDecoder } from "../domain/messages/scrape-message.ts";
import type { Scrape } from "../domain/scrape.ts";
import type { SampleGroup, SampleMoment } from "../processors/ledger/plan/samples.ts";
import { createPageExporters } from "../scenarios/play/page-scrapes.ts";
import { grouped } from "./grouped.ts";
import type { Seen, SeenExporter } from "./seen.ts";

/** A row of a device in one reading of a page. */
export interface Sample {
  readonly node: string;
  readonly device: Device;
  readonly atMillis: number;
  /** Parts per million; undefined if the page has no counter of activity. */
  readonly activity: number | undefined;
  /** The activity of the pod's own processes, parts per million. */
  readonly processActivity: number | undefined;
  /** 0 if unknown. */
  readonly memoryUsedMiB: number;
  readonly memoryMiB: number;
  readonly xid: number;
  /** True if the page has a counter of profiling for the device. */
  readonly hasProfiling: boolean;
}

/** The samples of the pages, and the exporters without one. */
export interface SeenSamples {
  readonly samples: readonly Sample[];
  readonly silent: readonly SilentExporter[];
}

/** An exporter of which no reading has a sample. */
export interface SilentExporter extends Pick<SeenExporter, "target" | "node"> {
  readonly why: string;
}

/** The interval of the readings, for which a sample counts. */
const INTERVAL_MILLIS = 30_000;

/** Returns the rows of all pages that a snapshot read, as a collector would read them. */
export function samplesOf({ exporters }: Pick<Seen, "exporters">, cluster: string): SeenSamples {
  const decoder = createScrapeDecoder();
  const pages = exporters.map(({ node, readings }) => ({
    node,
    states: readings.map((reading) => ({
      from: reading.atMillis,
      get page() {
        return "page" in reading ? reading.page() : undefined;
      },
    })),
  }));
  const played = createPageExporters({ cluster, pages }, "snapshot");
  const samples: Sample[] = [];
  const silent: SilentExporter[] = [];
  for (const [index, { target, node, readings }] of exporters.entries()) {
    const before = samples.length;
    let why = "it was not read";
    for (const [sequence, reading] of readings.entries()) {
      const { atMillis } = reading;
      if ("failure" in reading) why = reading.failure;
      const moment = {
        epoch: 1,
        sequence,
        scrapedAtMillis: atMillis,
        intervalMillis: INTERVAL_MILLIS,
        durationMicros: 0,
      };
      for (const { message } of played[index]!.scrape(moment)) {
        const scrape = decoder.decode(message);
        if ("invalid" in scrape) throw new TypeError(`the reader made an invalid message: ${String(scrape.invalid)}`);
        if (scrape.failure === undefined) samples.push(...rowsOf(scrape));
        else if ("page" in reading) why = scrape.failure.detail;
      }
    }
    if (samples.length === before) silent.push({ target, node, why });
  }
  return { samples, silent };
}

function rowsOf({ node, shape, values, scrapedAtMillis: atMillis }: Scrape): readonly Sample[] {
  const { columns, devices } = shape;
  const indexes = new Map(columns.map((name, index) => [name, index]));
  return devices.map((device, row): Sample => {
    const at = (name: string): number => {
      const column = indexes.get(name);
      return column === undefined ? Number.NaN : values[row * columns.length + column]!;
    };
    const memory = at("fb_total_bytes");
    const parts = at("fb_used_bytes") + at("fb_free_bytes") + orZero(at("fb_reserved_bytes"));
    return {
      node,
      device,
      atMillis,
      activity: activityPpm(at("gr_engine_active_ratio"), at("gpu_utilization_ratio"), at("sm_active_ratio")),
      processActivity: activityPpm(at("process_utilization_ratio")),
      memoryUsedMiB: mebibytes(at("fb_used_bytes")),
      memoryMiB: mebibytes(Number.isNaN(memory) ? parts : memory),
      xid: orZero(at("xid_code")),
      hasProfiling: PROFILING.some((name) => !Number.isNaN(at(name))),
    };
  });
}

/** The counters of profiling by which practices know it. */
const PROFILING = ["gr_engine_active_ratio", "sm_active_ratio", "dram_active_ratio"];
const MEBIBYTE = 1_048_576;

function orZero(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

function mebibytes(bytes: number): number {
  return Number.isNaN(bytes) ? 0 : Math.floor(bytes / MEBIBYTE);
}

/** Returns the samples as groups of one device and holder, as the meter has them. */
export function groupsOf(samples: readonly Sample[]): readonly SampleGroup[] {
  const groups = grouped(samples, ({ node, device }) => [
    node,
    gpuKey(device),
    instanceKey(device),
    profileOf(device),
    sharingKey(device),
    device.podUid ?? "",
  ]);
  return [...groups.values()].map((group): SampleGroup => {
    const [{ node, device }] = group;
    const { gpu = "", pciBusId = "", model = "", namespace = "", pod = "", podUid = "", hpcJob = "" } = device;
    const times = group.map(({ atMillis }) => atMillis);
    return {
      node,
      gpuKey: gpuKey(device),
      part: instanceKey(device),
      profile: profileOf(device),
      gpu,
      pciBusId,
      model,
      memoryMiB: Math.max(...group.map(({ memoryMiB }) => memoryMiB)),
      namespace,
      pod,
      podUid,
      hpcJob,
      firstAt: Math.min(...times),
      lastAt: Math.max(...times),
      reachMillis: INTERVAL_MILLIS,
      // Moments are read for every GPU.
      hasHardwareXid: true,
      hasProcesses: group.some(({ processActivity }) => processActivity !== undefined),
    };
  });
}

/** Returns the samples as moments, as the meter has them, in the order of time. */
export function momentsOf(samples: readonly Sample[]): readonly SampleMoment[] {
  return samples
    .map(({ node, device, atMillis: at, xid, activity }): SampleMoment => {
      const { namespace = "", pod = "", podUid = "", hpcJob = "" } = device;
      const of = { node, gpuKey: gpuKey(device), part: instanceKey(device), profile: profileOf(device) };
      const isActive = (activity ?? 0) > 0;
      return { ...of, at, reachMillis: INTERVAL_MILLIS, namespace, pod, podUid, hpcJob, xid, isActive };
    })
    .toSorted((one, other) => one.at - other.at);
}

function profileOf({ profile, claim }: Device): string {
  return profile ?? claim?.migProfile ?? "";
}
