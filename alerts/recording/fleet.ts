import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { IDLE_RATIO } from "./windows.ts";

/** The series of a fleet's use for dashboards: GPUs of each node and model by use. */
export const FLEET_USE = "node:gpus_by_use:sum";
/** The same series for all nodes of a cluster together, for charts of weeks. */
export const CLUSTER_USE = "cluster:gpus_by_use:sum";
/** GPUs that a node reported within a day and does not report now; absent for a complete node. */
export const MISSING = "node:gpus_missing:count";
/** The uses of GPUs: all, held, active, and effective. */
export type FleetUse = "total" | "held" | "active" | "effective";

/**
 * GPUs by use. Each of n instances or partitions of a GPU counts as 1/n GPU. `held`: devices with a pod on an exporter's page. `active`:
 * their mean activity. `effective`: held devices that were not below {@link IDLE_RATIO} for an hour. The ledger has more states: these
 * series do not separate starting, waiting or unavailable time.
 */
export function fleetRules(options: AlertOptions): readonly RecordingRule[] {
  const { cluster, node, gpu, device } = keysOf(options);
  const activity = "gpu:device_activity:ratio";
  const devices = `(${activity}{GPU_I_ID!=""} or ${on(gpu)} ${activity})`;
  const held = `and ${on(device)} gpu:device_holder:info`;
  const models = "gpu:model:info";
  const sumOf = (use: FleetUse, ofDevices: string): RecordingRule => ({
    record: FLEET_USE,
    labels: { use },
    expr: `sum by (${listed(node)}, modelName) (
  avg by (${listed(gpu)}) (
    ${ofDevices}
    or ${on(device)} ${devices} * 0
  ) * ${on(gpu)} group_left (modelName) ${models}
)`,
  });
  return [
    {
      // One series for each GPU. Two exporters can have different names for its model, and old ones have none.
      record: models,
      expr: `topk by (${listed(gpu)}) (1, group by (${listed(gpu)}, modelName) (gpu:exporter_gpu:info{modelName!=""}))
or ${on(gpu)}
label_replace(group by (${listed(gpu)}) (gpu:exporter_gpu:info), "modelName", "unknown", "", "")`,
    },
    {
      record: FLEET_USE,
      labels: { use: "total" satisfies FleetUse },
      expr: `count by (${listed(node)}, modelName) (${models})`,
    },
    sumOf("held", `(${devices} * 0 + 1 ${held})`),
    sumOf("active", `(${devices} ${held})`),
    sumOf("effective", `(${devices} * 0 + 1 ${held} unless ${on(device)} (gpu:device_activity:avg1h < ${IDLE_RATIO}))`),
    { record: CLUSTER_USE, expr: `sum by (${cluster}, modelName, use) (${FLEET_USE})` },
    { record: MISSING, expr: "node:gpu_devices:max1d - node:gpu_devices:count > 0" },
  ];
}
