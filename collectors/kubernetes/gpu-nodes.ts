import type { ApiConnection } from "./api/connection.ts";
import type { ApiResource } from "./api/resource.ts";
import { projectNode, type NodeOptions } from "./projection/node.ts";
import { listObjects } from "./reflector/list.ts";
import { REFLECTOR_TIMING } from "./reflector/timing.ts";

const NODES: ApiResource = { group: "", version: "v1", plural: "nodes", kind: "Node" };

/** The names of the nodes that have GPUs now, in alphabetical order. Fails with an `ApiError`. */
export async function listGpuNodes(
  api: ApiConnection,
  options: Pick<NodeOptions, "gpuResources"> & { readonly timeoutMillis: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const names = new Set<string>();
  await listObjects({
    api,
    resource: NODES,
    selectors: {},
    timing: { ...REFLECTOR_TIMING, silenceMillis: options.timeoutMillis },
    signal: options.signal,
    notOlderThan: "",
    streaming: false,
    onStart: () => names.clear(),
    onObject(object) {
      const projection = projectNode(object, options);
      if (projection !== undefined && projection.fact.gpus.length > 0) names.add(object.metadata.name);
      return Promise.resolve();
    },
  });
  return [...names].sort();
}
