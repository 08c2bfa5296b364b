import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { anyOf, firstLabel, joinLabels, relabel, select, withLabel } from "../promql.ts";
import { BASE_UNIT_NAMES, namesOf } from "../series/exporter-names.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { read, readLargest, withGpuNumber } from "../series/read.ts";
import { THERMAL_LIMITS } from "../thermal-limits.ts";

/** The metrics of which any shows that a device is at work: no exporter gives all of them, some stand at 0 while it is busy. */
export const ACTIVITIES = ["gr_engine_active_ratio", "sm_active_ratio", "gpu_utilization_ratio"] as const;
/** What every exporter gives of every GPU, one or the other. */
const PRESENCE = [...ACTIVITIES, "gpu_temperature_celsius", "fb_used_bytes"] as const;

/**
 * What is true of devices now: how active they are, how warm, how full. One series for each GPU, or for each MIG instance of
 * it where instances differ, whatever exporter gives it.
 */
export function deviceRules(options: AlertOptions): readonly RecordingRule[] {
  const keys = keysOf(options);
  const ofGpu = (record: string, column: string, where?: string): RecordingRule => ({
    record,
    expr: read(options, column, { by: keys.gpu, ...(where === undefined ? {} : { where }) }),
  });
  return [
    { record: "exporter:base_units:info", expr: baseUnits(options) },
    { record: "gpu:exporter_gpu:info", expr: gpus(options) },
    {
      record: "gpu:device_activity:ratio",
      expr: `clamp_max(${readLargest(options, ACTIVITIES, { by: keys.device })}, 1)`,
    },
    { record: "node:gpu_devices:count", expr: `count by (${listed(keys.node)}) (gpu:device_activity:ratio)` },
    {
      record: "node:gpus:count",
      expr: `count by (${listed(keys.node)}) (group by (${listed(keys.gpu)}) (gpu:exporter_gpu:info))`,
    },
    ofGpu("gpu:temperature:celsius", "gpu_temperature_celsius"),
    limitOf(options, "gpu:slowdown_temperature:celsius", "slowdown_temperature_celsius", "slowdown"),
    limitOf(options, "gpu:max_operating_temperature:celsius", "max_operating_temperature_celsius", "maxOperating"),
    ofGpu("gpu:temperature_margin:celsius", "temperature_margin_celsius"),
    // 0 is what GPUs say that can't tell.
    ofGpu("gpu:memory_temperature:celsius", "memory_temperature_celsius", "> 0"),
    limitOf(
      options,
      "gpu:memory_max_operating_temperature:celsius",
      "memory_max_operating_temperature_celsius",
      "memoryMaxOperating",
    ),
    { record: "gpu:memory_used:bytes", expr: read(options, "fb_used_bytes", { by: keys.device }) },
    {
      record: "gpu:memory_used:ratio",
      expr: `gpu:memory_used:bytes\n/ (\ngpu:memory_used:bytes\n+\n${read(options, "fb_free_bytes", { by: keys.device })}\n)`,
    },
  ];
}

/** Exporters whose utilisation called a ratio is one: their page has names of DCGM 4.7, and no value was above 1 lately. */
function baseUnits({ clusterLabel, selectors }: AlertOptions): string {
  const by = `${clusterLabel}, instance`;
  const ratio = select("DCGM_FI_DEV_GPU_UTIL_RATIO", selectors.series);
  return `group by (${by}) (${select("", anyOf("__name__", BASE_UNIT_NAMES), selectors.series)})
unless on (${by})
group by (${by}) (max_over_time(${ratio}[1h]) > 1.01)`;
}

/** Labels that name a GPU, the first that is there and not all zeroes counts: AMD's virtual functions have such a UUID. */
const UUID_LABELS = ["UUID", "uuid", "gpu_uuid", "GPU_UUID", "gpu"];
const MODEL_LABELS = ["modelName", "card_series", "CARD_SERIES", "card_model"];

/** The GPUs of each exporter's page, with the names by which all other rules know them. One answer for each. */
function gpus(options: AlertOptions): string {
  const { cluster, exporterGpu } = keysOf(options);
  const names = PRESENCE.flatMap((column) => namesOf(column).flatMap((reading) => reading.names));
  // Each GPU once before its labels are mended, which costs more than anything else here.
  const own = [cluster, "instance", "gpu_id", "GPU_ID", ...options.nodeLabels, ...UUID_LABELS, ...MODEL_LABELS];
  const once = `group by (${listed([...new Set(own)])}) (${select("", anyOf("__name__", names), options.selectors.series)})`;
  const withNode = firstLabel(withGpuNumber(once), "node", options.nodeLabels);
  const withModel = firstLabel(withNode, "modelName", MODEL_LABELS);
  const withUuid = relabel(joinLabels(withModel, "UUID", UUID_LABELS), "UUID", "UUID", "(?:[0-]*;)*([^;]+).*");
  return `topk by (${listed(exporterGpu)}) (1, group by (${listed(exporterGpu)}, node, UUID, modelName) (
  ${withUuid}
))`;
}

/** A GPU's own limit where its exporter gives it, else that of its model; the label `limit` says which. */
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
