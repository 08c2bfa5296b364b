import { affectedNode } from "../affected.ts";
import { createCheck, type Affected } from "../check.ts";
import { branchOf, endedBranch } from "../driver-branches.ts";
import type { PracticeNode } from "../facts.ts";
import { groupBy } from "../../grouped.ts";

const OPERATOR = "gpu-operator";

/** Drivers without support. */
export const driverEndOfLife = createCheck(
  {
    name: "driver-end-of-life",
    severity: "high",
    title: "Drivers of a branch that has ended",
    what: "The NVIDIA driver of a node belongs to a branch whose support has ended, by the dates of NVIDIA's documents. Branches without a known date are left out.",
    why: "The branch gets no more fixes of security and of faults, and newer CUDA releases do not run on it.",
    fix: () =>
      `kubectl patch clusterpolicy cluster-policy --type merge --patch '{"spec":{"driver":{"version":"VERSION"}}}'   # a supported version, for all nodes, with NVIDIA's ${OPERATOR}`,
  },
  ({ nodes, now }) =>
    nodes.flatMap((node) => {
      const branch = driverOf(node);
      const ended = branch === undefined ? undefined : endedBranch(branch, now);
      return ended === undefined
        ? []
        : affectedNode(node, { detail: `driver ${node.driverVersion}, supported until ${ended.endOfLife}` });
    }),
);

/** Node pools with several drivers or CUDA versions. */
export const driversMixed = createCheck(
  {
    name: "driver-versions-mixed",
    severity: "low",
    title: "Node pools with different drivers",
    what: "Nodes of one pool have drivers of different branches, or different CUDA versions. The nodes whose versions are not the most frequent ones of their pool are found.",
    why: "A program can start on one node and fail on another of the same pool, and pods of one job can run with different libraries.",
    fix: ({ name }) => `kubectl drain ${name} --ignore-daemonsets --delete-emptydir-data   # then replace or update it`,
  },
  ({ nodes }) =>
    rarer(
      nodes.filter(({ pool }) => pool !== undefined),
      ({ vendor, node }) => [node.cluster, vendor, node.pool],
      versionsOf,
    ),
);

/** Clusters with several device plugins. */
export const devicePluginsMixed = createCheck(
  {
    name: "device-plugin-versions-mixed",
    severity: "low",
    title: "Different versions of the device plugin",
    what: "The nodes of a cluster with GPUs of one vendor run different versions of the device plugin. The nodes whose version is not the most frequent one are found.",
    why: "Versions differ in how they share GPUs, name resources and report health. A half-finished roll-out is easily forgotten.",
    fix: ({ value }) => oneVersion("nvidia-device-plugin-daemonset", "devicePlugin", value),
  },
  ({ nodes }) =>
    rarer(nodes, ofVendor, ({ devicePluginVersion: version }) =>
      version === undefined ? undefined : `device plugin ${version}`,
    ),
);

/** Clusters with several exporters. */
export const exportersMixed = createCheck(
  {
    name: "exporter-versions-mixed",
    severity: "low",
    title: "Different versions of the exporter",
    what: "The nodes of a cluster with GPUs of one vendor run different versions of the exporter. The nodes whose version is not the most frequent one are found.",
    why: "Versions differ in the names, units and labels of their series, so dashboards and alerts of others see some nodes only partly.",
    fix: ({ value }) => oneVersion("nvidia-dcgm-exporter", "dcgmExporter", value),
  },
  ({ nodes }) =>
    rarer(nodes, ofVendor, ({ exporterVersion: version }) =>
      version === undefined ? undefined : `exporter ${version}`,
    ),
);

/** Returns commands that show the images of a DaemonSet's pods and give one version to all. To delete a pod starts the same image again. */
function oneVersion(app: string, part: string, version: string): string {
  return `kubectl get pods -A --selector app=${app} -o 'custom-columns=NODE:.spec.nodeName,IMAGE:.spec.containers[*].image'
kubectl patch clusterpolicy cluster-policy --type merge --patch '{"spec":{"${part}":{"version":"${version}"}}}'   # with NVIDIA's ${OPERATOR}; otherwise set the image of the DaemonSet, which other vendors name otherwise`;
}

interface Versioned {
  readonly node: PracticeNode;
  readonly vendor: string | undefined;
  readonly version: string;
}

function ofVendor({ node, vendor }: Versioned): readonly (string | undefined)[] {
  return [node.cluster, vendor];
}

/** Returns the nodes whose version is not the most frequent one of their group. Of equally frequent ones, the higher text counts. */
function rarer(
  nodes: readonly PracticeNode[],
  keyOf: (versioned: Versioned) => readonly (string | undefined)[],
  versionOf: (node: PracticeNode) => string | undefined,
): readonly Affected[] {
  const versioned = nodes.flatMap((node): Versioned | readonly [] => {
    const version = versionOf(node);
    return version === undefined ? [] : { node, vendor: node.gpus[0]?.vendor, version };
  });
  return groupBy(versioned, keyOf).flatMap((group) => {
    const [usual, ...others] = groupBy(group, ({ version }) => [version]).toSorted(
      (a, b) => b.length - a.length || (a[0].version < b[0].version ? 1 : -1),
    );
    return others.flat().map(({ node, version }) => {
      const most = usual![0].version;
      return affectedNode(node, { detail: `${version}, others have ${most}`, value: most.split(" ").at(-1)! });
    });
  });
}

function driverOf({ driverVersion, gpus: [first] }: PracticeNode): number | undefined {
  return driverVersion === undefined || first?.vendor !== "nvidia" ? undefined : branchOf(driverVersion);
}

function versionsOf(node: PracticeNode): string | undefined {
  const branch = driverOf(node);
  if (branch === undefined) return undefined;
  return `driver ${branch}${node.cudaVersion === undefined ? "" : ` with CUDA ${node.cudaVersion}`}`;
}
