import type { SliceDevice } from "../../domain/cluster-fact.ts";
import type { NodeGpus } from "../../domain/inventory.ts";
import type { ApiConnection } from "./api/connection.ts";
import { ApiError } from "./api/api-error.ts";
import type { ApiObject, ApiResource } from "./api/resource.ts";
import { findServed } from "./api/served.ts";
import { readSlice } from "./projection/cluster/dra.ts";
import { projectNode, type NodeOptions } from "./projection/node.ts";
import type { Remark } from "./projection/remark.ts";
import { listObjects } from "./reflector/list.ts";
import { REFLECTOR_TIMING } from "./reflector/timing.ts";

const NODES: ApiResource = { group: "", version: "v1", plural: "nodes", kind: "Node" };
const DRA_GROUP = "resource.k8s.io";

/** A node with GPUs, or with resources that look like GPUs. */
export interface GpuNode {
  readonly name: string;
  /** Empty if none of its GPUs are metered. */
  readonly gpus: readonly NodeGpus[];
  readonly remarks: readonly Remark[];
}

interface Asking extends Pick<NodeOptions, "resourceNames"> {
  readonly timeoutMillis: number;
  readonly signal: AbortSignal;
}

/** Lists the nodes that have GPUs now, in alphabetical order. Fails with an `ApiError`. */
export async function listGpuNodes(api: ApiConnection, options: Asking): Promise<readonly GpuNode[]> {
  const slices = await listSlices(api, options);
  const nodes = new Map<string, GpuNode>();
  await list(api, NODES, options, {
    onStart: () => nodes.clear(),
    onObject(object) {
      const { name } = object.metadata;
      const projection = projectNode(object, { ...options, slices: slices.get(name) ?? [] });
      const isUnmetered = projection?.remarks.some(({ reason }) => reason === "unmetered") === true;
      if (projection === undefined || (projection.fact.gpus.length === 0 && !isUnmetered)) return;
      nodes.set(name, { name, gpus: projection.fact.gpus, remarks: projection.remarks });
    },
  });
  return [...nodes.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Lists the devices that DRA drivers publish, by node; empty if the server has no DRA or slices may not be read. */
async function listSlices(api: ApiConnection, options: Asking): Promise<ReadonlyMap<string, readonly SliceDevice[]>> {
  const slices = new Map<string, SliceDevice[]>();
  try {
    const version = (await findServed(api, new Set([DRA_GROUP]), options)).get(`resourceslices.${DRA_GROUP}`);
    if (version === undefined) return slices;
    const resource = { group: DRA_GROUP, version, plural: "resourceslices", kind: "ResourceSlice" };
    await list(api, resource, options, {
      onStart: () => slices.clear(),
      onObject(object) {
        const slice = readSlice(object);
        if (slice !== undefined) slices.set(slice.node, [...(slices.get(slice.node) ?? []), ...slice.devices]);
      },
    });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "forbidden")) throw error;
  }
  return slices;
}

async function list(
  api: ApiConnection,
  resource: ApiResource,
  { timeoutMillis, signal }: Asking,
  { onStart, onObject }: { readonly onStart: () => void; readonly onObject: (object: ApiObject) => void },
): Promise<void> {
  await listObjects({
    api,
    resource,
    selectors: {},
    timing: { ...REFLECTOR_TIMING, silenceMillis: timeoutMillis },
    signal,
    notOlderThan: "",
    streaming: false,
    onStart,
    onObject(object) {
      onObject(object);
      return Promise.resolve();
    },
  });
}
