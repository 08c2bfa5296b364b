import { splitImage } from "../projection/image.ts";
import { objects, text, texts } from "../projection/wire.ts";
import type { PodObject } from "../projection/pod-object.ts";

/** A device plugin or an exporter that runs on a node. */
export interface NodeProgram {
  readonly program: "device plugin" | "exporter";
  readonly node: string;
  /** The tag of its image: `v0.17.1`. */
  readonly version: string;
}

/** Images of the vendors' device plugins and exporters, as their charts and operators name them. */
const PROGRAMS: readonly (readonly [NodeProgram["program"], RegExp])[] = [
  [
    "device plugin",
    /(?:^|\/)(?:k8s-device-plugin|amdgpu-?dp|intel-gpu-plugin|habanalabs-device-plugin|neuron-device-plugin)$/,
  ],
  ["exporter", /(?:^|\/)(?:dcgm-exporter|device-metrics-exporter|nvidia_gpu_exporter)$/],
];

/**
 * Returns the device plugin or exporter of a pod, by its image; undefined for any other pod. Nodes do not contain the versions of these
 * programs, but their pods do.
 */
export function nodeProgramOf(pod: PodObject): NodeProgram | undefined {
  const node = text(pod.spec?.nodeName);
  if (node === undefined || pod.status?.phase !== "Running") return undefined;
  for (const container of objects(pod.spec?.containers)) {
    const { image = "" } = texts(container);
    const { name, tag: version } = splitImage(image);
    const program = PROGRAMS.find(([, images]) => images.test(name))?.[0];
    if (program !== undefined && version !== "") return { program, node, version };
  }
  return undefined;
}
