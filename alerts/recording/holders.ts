import type { RecordingRule } from "../model.ts";
import type { AlertOptions } from "../options.ts";
import { anyOf, quote, relabel, select } from "../promql.ts";
import { namesOf } from "../series/exporter-names.ts";
import { keysOf, listed, on } from "../series/keys.ts";
import { ofPage, read, withGpuNumber, type ReadOptions } from "../series/read.ts";
import { state } from "../series/state.ts";
import { ACTIVITIES } from "./devices.ts";

/** Resources of which a node has several for one GPU where it is time-sliced or under MPS. */
const REPLICATED_RESOURCES = anyOf("resource", ["nvidia_com_gpu", "nvidia_com_gpu_shared", "amd_com_gpu"]);
/** A node is taken for one of shared GPUs where its resource counts at least so many times its devices. */
const LEAST_REPLICAS = 2;

/**
 * Who holds what, and how active each pod is on each device of it. A pod that has a device for itself is as active as the
 * device; of one that shares it only what its own processes do counts, as a part of its share.
 */
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
      // Replicas of each shared device: of its node's resource where Kubernetes tells, else its pods.
      record: "gpu:device_replicas:count",
      expr: `(
  gpu:device_activity:ratio * 0 + ${on(node)} group_left () (
    (sum by (${listed(node)}) (${capacity}) / ${on(node)} max_over_time(node:gpu_devices:count[1d])) >= ${LEAST_REPLICAS}
  )
)
or ${on(device)}
(count by (${devices}) (gpu:device_holder:info) > 1)
or ${on(device)}
${read(options, "gpu_utilization_ratio", { by: device, matchers: ['vgpu!=""'] })} * 0 + 1`,
    },
    { record: "gpu:process_utilization:ratio", expr: processValues(options) },
    {
      record: "gpu:pod_activity:ratio",
      expr: `(gpu:device_holder:info unless ${on(device)} gpu:device_replicas:count)
* ${on(device)} group_left () gpu:device_activity:ratio
or
clamp_max(gpu:process_utilization:ratio * ${on(device)} group_left () gpu:device_replicas:count, 1)`,
    },
    {
      record: "node:gpus_without_process_values:count",
      expr: `count by (${listed(node)}) (
  gpu:device_replicas:count
  unless ${on(device)} gpu:process_utilization:ratio
  and ${on(device)} gpu:device_holder:info
)`,
    },
  ];
}

/**
 * The pods that exporters name, wherever honoured, exported and old labels have them. An exporter's own pod holds nothing,
 * though honoured labels give its name to every free GPU.
 */
function holders(options: AlertOptions): string {
  const { cluster, device } = keysOf(options);
  const names = ACTIVITIES.flatMap((column) => namesOf(column).flatMap((reading) => reading.names));
  const own = [cluster, "instance", ...words("gpu gpu_id GPU_ID GPU_I_ID gpu_partition_id namespace pod")];
  const others = words("exported_namespace exported_pod pod_namespace pod_name");
  const series = podLabels(options).map(({ matchers, relabelled }) => {
    const selected = select("", anyOf("__name__", names), ...matchers, options.selectors.series);
    return withGpuNumber(relabelled(`group by (${listed([...own, ...others])}) (${selected})`));
  });
  const by = [...device, "namespace", "pod"];
  return `group by (${listed(by)}) (
  ${ofPage(options, by, "group", `\n    ${series.join("\n    or\n    ")}\n  `)}
)
unless on (${cluster}, namespace, pod) ${select("up", options.selectors.exporters)}`;
}

function words(text: string): readonly string[] {
  return text.split(" ");
}

/** Where a series carries its pod: each way excludes the others. */
function podLabels({ exporterPods }: AlertOptions): readonly Required<Pick<ReadOptions, "matchers" | "relabelled">>[] {
  const from = (namespace: string, pod: string) => (expr: string) =>
    relabel(relabel(expr, "namespace", namespace), "pod", pod);
  return [
    { matchers: ['exported_pod!=""'], relabelled: from("exported_namespace", "exported_pod") },
    { matchers: ['exported_pod=""', 'pod_name!=""'], relabelled: from("pod_namespace", "pod_name") },
    {
      matchers: ['exported_pod=""', 'pod_name=""', 'pod!=""', `pod!~${quote(exporterPods)}`],
      relabelled: (expr) => expr,
    },
  ];
}

/**
 * Utilisation by process of shared devices, as dcgm-exporter gives it since 4.8.2: a series for each pod, and one for the
 * device without any. Before, each pod's series repeats the device's, and there is none without.
 */
function processValues(options: AlertOptions): string {
  const { device } = keysOf(options);
  const column = "gpu_utilization_ratio";
  const ofPods = podLabels(options).map(({ matchers, relabelled }) =>
    read(options, column, { by: [...device, "namespace", "pod"], matchers: ['vgpu!=""', ...matchers], relabelled }),
  );
  const nobody = ['vgpu=""', 'exported_pod=""', 'pod_name=""', `pod=~${quote(`|${options.exporterPods}`)}`];
  return `(
${ofPods.join("\nor\n")}
)
and ${on(device)} gpu:device_replicas:count
and ${on(device)} ${read(options, column, { by: device, matchers: nobody })}`;
}
