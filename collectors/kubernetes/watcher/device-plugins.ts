import { objects, text, texts } from "../projection/wire.ts";
import type { PodObject } from "../projection/pod-object.ts";

/** A device plugin that runs on a node. */
export interface DevicePlugin {
  readonly node: string;
  /** The tag of its image: `v0.17.1`. */
  readonly version: string;
}

/** Images of the vendors' device plugins, as their charts and operators name them. */
const IMAGE =
  /(?:^|\/)(?:k8s-device-plugin|amdgpu-?dp|intel-gpu-plugin|habanalabs-device-plugin|neuron-device-plugin)$/;

/**
 * Returns the device plugin of a pod, by its image; undefined for any other pod. Nodes do not contain the version of their device plugin,
 * but its pod does.
 */
export function devicePluginOf(pod: PodObject): DevicePlugin | undefined {
  const node = text(pod.spec?.nodeName);
  if (node === undefined || pod.status?.phase !== "Running") return undefined;
  for (const container of objects(pod.spec?.containers)) {
    const { image = "" } = texts(container);
    const [name, version] = splitImage(image);
    if (IMAGE.test(name) && version !== "") return { node, version };
  }
  return undefined;
}

/** Splits `registry:5000/path/name:tag@sha256:…` into its name and its tag. */
function splitImage(image: string): readonly [name: string, tag: string] {
  const [named = ""] = image.split("@");
  const colon = named.lastIndexOf(":");
  return colon > named.lastIndexOf("/") ? [named.slice(0, colon), named.slice(colon + 1)] : [named, ""];
}
