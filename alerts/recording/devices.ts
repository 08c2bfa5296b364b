import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { anyOf, firstLabel, joinLabels, relabel, select, withLabel } from "../promql.ts";
import { BASE_UNIT_NAMES, namesOfVendor } from "../series/exporter-names.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { read, readLargest } from "../series/read.ts";
import { THERMAL_LIMITS, USUAL_SLOWDOWN_MARGIN } from "../thermal-limits.ts";

/**
 * The metrics of activity. Any of them shows that a device is active: no exporter has all of them, and some stay at 0 while the device is
 * busy.
 */
const ACTIVITIES = ["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"] as const;
/** The metrics of activity of which every exporter has one. The activity of a GPU or its pod is read from these. */
export const USUAL_ACTIVITIES = ["gr_engine_active_ratio", "gpu_utilization_ratio"] as const;
/** The bounds of remaining degrees by which nodes are counted. */
const LEFT_BOUNDS = [0, 5, 10, 15, 20, 25, 30, 35, 40, 50] as const;
const PRESENCE = [...USUAL_ACTIVITIES, "gpu_temperature_celsius"] as const;

/** Returns the rules for the existing GPUs and their pages. */
export function inventoryRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, node, gpu } = keysOf(options);
  const gpuInfo = "gpu:exporter_gpu:info";
  return [
    { record: "exporter:base_units:info", expr: baseUnits(options) },
    { record: gpuInfo, expr: gpus(options) },
    { record: "exporter:gpus:count", expr: `count by (${cluster}, instance, node) (${gpuInfo})` },
    { record: "node:gpus:count", expr: `count by (${listed(node)}) (group by (${listed(gpu)}) (${gpuInfo}))` },
  ];
}

/** Returns the rules for the activity of each device: a GPU, or a MIG instance if instances differ. */
export function deviceRules(options: AlertOptions): readonly RecordingRule[] {
  const { node, device: by } = keysOf(options);
  return [
    { record: "gpu:device_activity:ratio", expr: `clamp_max(${readLargest(options, ACTIVITIES, { by })}, 1)` },
    { record: "node:gpu_devices:count", expr: `count by (${listed(node)}) (gpu:device_activity:ratio)` },
  ];
}

/** Returns the rules for the temperature and the used memory of devices. */
export function readingRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, node, gpu: by, device } = keysOf(options);
  const used = "gpu:memory_used:bytes";
  const left = "gpu:temperature_left:celsius";
  const free = read(options, "fb_free_bytes", { by: device });
  return [
    { record: "gpu:temperature:celsius", expr: read(options, "gpu_temperature_celsius", { by }) },
    { record: "gpu:temperature_margin:celsius", expr: read(options, "temperature_margin_celsius", { by }) },
    {
      // GPUs without this measurement report 0.
      record: "gpu:memory_temperature:celsius",
      expr: read(options, "memory_temperature_celsius", { by, where: "> 0" }),
    },
    { record: used, expr: read(options, "fb_used_bytes", { by: device }) },
    // From used and free memory, with one join instead of two.
    { record: "gpu:memory_used:ratio", expr: `1 / (1 + ${free} / ${on(device)} ${used})` },
    {
      // Until it slows down. Newer GPUs count down to a limit that is beyond that.
      record: left,
      expr: `gpu:slowdown_temperature:celsius - ${on(by)} gpu:temperature:celsius
or ${on(by)}
(gpu:temperature_margin:celsius unless ${on(by)} gpu:temperature_margin_stuck:info) + ${-USUAL_SLOWDOWN_MARGIN}`,
    },
    { record: "node:temperature_left:min", expr: `min by (${listed(node)}) (${left})` },
    { record: "cluster:nodes_by_temperature_left:count", expr: nodesByTemperatureLeft(cluster) },
  ];
}

/** Returns a Prometheus histogram of nodes by remaining degrees: each node of a cluster is counted in every bound at or above its value. */
function nodesByTemperatureLeft(cluster: string): string {
  const within = LEFT_BOUNDS.map((bound) =>
    withLabel(`sum by (${cluster}) (node:temperature_left:min <= bool ${bound})`, "le", String(bound)),
  );
  return [...within, withLabel(`count by (${cluster}) (node:temperature_left:min)`, "le", "+Inf")].join("\nor\n");
}

/** Returns the rules for values that rarely change: the maximum of devices of nodes, their highest temperatures and their limits. */
export function limitRules(options: AlertOptions): readonly RecordingRule[] {
  return [
    // The maximum of a day, because some devices may be gone from the page.
    { record: "node:gpu_devices:max1d", expr: "max_over_time(node:gpu_devices:count[1d])" },
    // Recorded so that the minimum of a week is found among a fifth of its values.
    { record: "node:temperature_left:min5m", expr: "min_over_time(node:temperature_left:min[5m])" },
    limitOf(options, "gpu:slowdown_temperature:celsius", "slowdown_temperature_celsius", "slowdown"),
    limitOf(options, "gpu:max_operating_temperature:celsius", "max_operating_temperature_celsius", "maxOperating"),
    limitOf(
      options,
      "gpu:memory_max_operating_temperature:celsius",
      "memory_max_operating_temperature_celsius",
      "memoryMaxOperating",
    ),
  ];
}

/** Exporters with a real ratio in the utilization metric that is called a ratio: their page has names of DCGM 4.7, and no recent value was above 1. */
function baseUnits({ clusterLabel, selectors }: AlertOptions): string {
  const by = `${clusterLabel}, instance`;
  const ratio = select("DCGM_FI_DEV_GPU_UTIL_RATIO", selectors.series);
  return `group by (${by}) (${select("", anyOf("__name__", BASE_UNIT_NAMES), selectors.series)})
unless on (${by})
group by (${by}) (max_over_time(${ratio}[1h]) > 1.01)`;
}

/** The labels of each vendor with the identity of a GPU. The first label that exists is used, except a UUID of zeroes, which AMD's virtual functions have. */
const NAMING_LABELS = {
  nvidia: { number: ["gpu"], uuid: ["UUID", "uuid", "gpu"], model: ["modelName"] },
  amd: {
    number: ["gpu", "gpu_id", "GPU_ID"],
    uuid: ["gpu_uuid", "GPU_UUID", "gpu"],
    model: ["card_series", "CARD_SERIES", "card_model"],
  },
} as const;

/** Returns the GPUs of each exporter's page, with the names that all other rules use. One result for each. */
function gpus(options: AlertOptions): string {
  const { exporterGpu } = keysOf(options);
  const ofVendors = (["nvidia", "amd"] as const).map((vendor) => namedGpus(options, vendor));
  return `topk by (${listed(exporterGpu)}) (1, group by (${listed(exporterGpu)}, node, UUID, modelName) (
  ${ofVendors.join("\n  or\n  ")}
))`;
}

function namedGpus(options: AlertOptions, vendor: keyof typeof NAMING_LABELS): string {
  const { number, uuid, model } = NAMING_LABELS[vendor];
  const names = namesOfVendor(vendor, PRESENCE);
  // Each GPU once before its labels are changed, which is the most expensive step here.
  const own = new Set([options.clusterLabel, "instance", ...options.nodeLabels, ...number, ...uuid, ...model]);
  const once = `group by (${listed([...own])}) (${select("", anyOf("__name__", names), options.selectors.series)})`;
  const numbered = firstLabel(once, "gpu", number);
  const withModel = firstLabel(firstLabel(numbered, "node", options.nodeLabels), "modelName", model);
  return relabel(joinLabels(withModel, "UUID", uuid), "UUID", "UUID", "(?:[0-]*;)*([^;]+).*");
}

/** Returns a GPU's own limit if its exporter has it, else that of its model. The label `limit` shows which. */
function limitOf(
  options: AlertOptions,
  record: string,
  column: string,
  limit: "slowdown" | "maxOperating" | "memoryMaxOperating",
): RecordingRule {
  const { gpu } = keysOf(options);
  const own = withLabel(read(options, column, { by: gpu, where: "> 0" }), "limit", "own");
  const ofModels = THERMAL_LIMITS.flatMap(({ models, [limit]: celsius }) =>
    celsius === undefined
      ? []
      : [withLabel(`group by (${listed(gpu)}) (gpu:exporter_gpu:info{${models}}) * ${celsius}`, "limit", "model")],
  );
  return { record, expr: [own, ...ofModels].join(`\nor ${on(gpu)}\n`) };
}
