import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { anyOf, quote, relabel, select } from "../promql.ts";
import { namesOf, namesOfVendor } from "../series/exporter-names.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { joined, ownLabels, read, withGpuNumber } from "../series/read.ts";
import { state } from "../series/state.ts";
import { USUAL_ACTIVITIES } from "./devices.ts";

/** Resources of which a node has several for one GPU with time-slicing or MPS. */
const REPLICATED_RESOURCES = anyOf("resource", ["nvidia_com_gpu", "nvidia_com_gpu_shared", "amd_com_gpu"]);
/** The ratio of a node's resource to its devices from which its GPUs count as shared. */
const LEAST_REPLICAS = 2;

/** The label of a pod's activity on a shared device. */
const SHARED = "shared";
/** The selectors of pods' activity on shared devices, and on devices of their own. */
export const SHARED_ACTIVITY = `gpu:pod_activity:ratio{${SHARED}="true"}`;
export const OWN_ACTIVITY = `gpu:pod_activity:ratio{${SHARED}=""}`;

/** Returns the rules for holders, and for the activity of each pod on each device that it has for itself: the activity of the device. */
export function holderRules(options: AlertOptions): readonly RecordingRule[] {
  const { node, device } = keysOf(options);
  const devices = listed(device);
  const capacity = state(options, "kube_node_status_capacity", REPLICATED_RESOURCES);
  return [
    { record: "gpu:device_holder:info", expr: holders(options) },
    {
      record: "node:gpus_held:count",
      expr: `count by (${listed(node)}) (group by (${devices}) (gpu:device_holder:info))
or ${on(node)}
node:gpu_devices:count * 0`,
    },
    {
      // The replicas of each shared device: from its node's resource if Kubernetes reports it, else its pods.
      record: "gpu:device_replicas:count",
      expr: `(
  gpu:device_activity:ratio * 0 + ${on(node)} group_left () (
    (sum by (${listed(node)}) (${capacity}) / ${on(node)} (node:gpu_devices:max1d or ${on(node)} node:gpu_devices:count)) >= ${LEAST_REPLICAS}
  )
)
or ${on(device)}
(count by (${devices}) (gpu:device_holder:info) > 1)
or ${on(device)}
${read(options, "gpu_utilization_ratio", { by: device, matchers: ['vgpu!=""'] })} * 0 + 1`,
    },
    {
      record: "gpu:pod_activity:ratio",
      expr: `(gpu:device_holder:info unless ${on(device)} gpu:device_replicas:count)
* ${on(device)} group_left () gpu:device_activity:ratio`,
    },
    {
      record: "node:gpus_without_process_values:count",
      expr: `count by (${listed(node)}) (
  gpu:device_replicas:count
  unless ${on(device)} gpu:process_values:info
  and ${on(device)} gpu:device_holder:info
)`,
    },
  ];
}

/** Returns the rules for the activity of each pod on each shared device: only its own processes count, as a part of its share. */
export function shareRules(options: AlertOptions): readonly RecordingRule[] {
  const { device } = keysOf(options);
  const by = [...device, "namespace", "pod"];
  const ofPods = read(options, "gpu_utilization_ratio", {
    by,
    matchers: ['vgpu!=""'],
    relabeled: (expr) => withPods(options, expr),
  });
  return [
    {
      record: "gpu:pod_activity:ratio",
      labels: { [SHARED]: "true" },
      expr: `clamp_max(
  (${ofPods} ${UNLESS_NOBODY} and ${on(device)} gpu:process_values:info)
  * ${on(device)} group_left () gpu:device_replicas:count, 1
)`,
    },
  ];
}

/** Returns the pods that exporters name on devices. */
function holders(options: AlertOptions): string {
  const { cluster, exporterGpu, device } = keysOf(options);
  const by = [...device, "namespace", "pod"];
  const own = [...exporterGpu, "GPU_I_ID", "gpu_id", "GPU_ID", "gpu_partition_id", ...POD_LABELS];
  const series = (["nvidia", "amd"] as const).map((vendor) => {
    const names = namesOfVendor(vendor, USUAL_ACTIVITIES);
    const selected = `group by (${listed(own)}) (${select("", anyOf("__name__", names), options.selectors.series)})`;
    return withPods(options, vendor === "amd" ? withGpuNumber(selected) : selected);
  });
  const ofPages = `group by (${listed(ownLabels(options, by))}) (
    (${series.join("\n    or\n    ")})
    ${UNLESS_NOBODY}
  )`;
  return `group by (${listed(by)}) (
  ${joined(options, {}, ofPages)}
)
unless on (${cluster}, namespace, pod) ${select("up", options.selectors.exporters)}`;
}

const POD_LABELS = ["namespace", "pod", "exported_namespace", "exported_pod", "pod_namespace", "pod_name"];
/** The operator that leaves out series without a pod. */
const UNLESS_NOBODY = "unless on (pod) vector(1)";

/**
 * Returns series with their pod, from honored, exported or old labels, and without a pod if they have
 * none. An exporter's own pod holds nothing, although honored labels put its name on every free GPU.
 */
function withPods({ exporterPods }: AlertOptions, expr: string): string {
  const old = relabel(relabel(expr, "namespace", "pod_namespace"), "pod", "pod_name");
  const exported = relabel(relabel(old, "namespace", "exported_namespace"), "pod", "exported_pod");
  return `label_replace(${exported}, "pod", "", "pod", ${quote(exporterPods)})`;
}

/**
 * Shared devices with the utilization by process, as in dcgm-exporter since 4.8.2: a series for each
 * pod, and one without a pod for the device. In earlier versions each pod's series repeats the device's, and no series is without a pod.
 */
export function processRules(options: AlertOptions): readonly RecordingRule[] {
  const { exporterGpu, device } = keysOf(options);
  const column = "gpu_utilization_ratio";
  const names = namesOf(column).flatMap((reading) => reading.names);
  const shared = `group by (${listed(exporterGpu)}) (${select("", anyOf("__name__", names), 'vgpu!=""')})`;
  const beside = (expr: string): string => withPods(options, `(${expr} and ${on(exporterGpu)} ${shared})`);
  const ofNobody = read(options, column, { by: [...device, "pod"], matchers: ['vgpu=""'], relabeled: beside });
  const expr = `group by (${listed(device)}) (${ofNobody} and on (pod) vector(1))
and ${on(device)} gpu:device_replicas:count`;
  return [{ record: "gpu:process_values:info", expr }];
}
