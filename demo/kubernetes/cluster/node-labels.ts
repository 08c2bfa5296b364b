import type { FleetNode } from "../../fleet/node.ts";

/** The family and compute capability of each generation of GPUs, as in GPU feature discovery. */
const FAMILIES: readonly (readonly [pattern: RegExp, family: string, compute: string])[] = [
  [/H100/, "hopper", "9.0"],
  [/A100/, "ampere", "8.0"],
  [/A10G|A6000/, "ampere", "8.6"],
  [/L40S|L4/, "ada-lovelace", "8.9"],
  [/T4/, "turing", "7.5"],
  [/V100/, "volta", "7.0"],
];

/** The newest CUDA version of each driver branch (NVIDIA, CUDA release notes, table of driver versions). */
const CUDA: Readonly<Record<string, string>> = {
  "450": "11.0",
  "520": "11.8",
  "535": "12.2",
  "550": "12.4",
  "570": "12.8",
  "575": "12.9",
  "580": "13.0",
  "590": "13.1",
};

/** Returns all labels of a node: those of Kubernetes, of its cloud and of the GPU discovery. */
export function nodeLabels(node: FleetNode): Record<string, string> {
  return {
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": node.name,
    "kubernetes.io/os": "linux",
    "node.kubernetes.io/instance-type": node.instanceType,
    "topology.kubernetes.io/region": node.region,
    "topology.kubernetes.io/zone": node.zone,
    "topology.kubernetes.io/rack": `r${(node.key % 6) + 1}`,
    ...cloudLabels(node),
    ...(node.model.vendor === "amd" ? amdLabels(node) : nvidiaLabels(node)),
  };
}

function cloudLabels({ instanceType, pool, capacityType }: FleetNode): Record<string, string> {
  const isSpot = capacityType === "spot";
  if (instanceType === "workstation") return { "node.gpu-ledger.example/owner": "lab" };
  if (instanceType.startsWith("ND")) {
    return {
      "kubernetes.azure.com/agentpool": pool,
      "kubernetes.azure.com/mode": "user",
      ...(isSpot ? { "kubernetes.azure.com/scalesetpriority": "spot" } : {}),
    };
  }
  if (isSpot || capacityType === "reserved") {
    return { "karpenter.sh/nodepool": pool, "karpenter.sh/capacity-type": capacityType };
  }
  return { "eks.amazonaws.com/nodegroup": pool, "eks.amazonaws.com/capacityType": "ON_DEMAND" };
}

function amdLabels({ model, gpus }: FleetNode): Record<string, string> {
  return {
    "feature.node.kubernetes.io/amd-gpu": "true",
    "amd.com/gpu.product-name": model.name.replaceAll(" ", "_"),
    "amd.com/gpu.vram": `${Math.round(model.memoryMib / 1024)}G`,
    "amd.com/gpu.family": "AI",
    "amd.com/gpu.device-id": "74a1",
    [`amd.com/gpu.vram.${Math.round(model.memoryMib / 1024)}G`]: String(gpus.length),
  };
}

function nvidiaLabels(node: FleetNode): Record<string, string> {
  const { model, gpus, make, sharing } = node;
  const product = model.name.replaceAll(" ", "-");
  const [, family = "", compute = ""] = FAMILIES.find(([pattern]) => pattern.test(model.name)) ?? [];
  const slices = gpus[0]?.slots.length ?? 1;
  const cuda = CUDA[make.driver.split(".")[0]!] ?? "12.0";
  const isShared = sharing === "time-slicing";
  return {
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.count": String(gpus.length),
    "nvidia.com/gpu.product": isShared ? `${product}-SHARED` : product,
    "nvidia.com/gpu.memory": String(model.memoryMib),
    "nvidia.com/gpu.family": family,
    "nvidia.com/gpu.compute.major": compute.split(".")[0]!,
    "nvidia.com/gpu.compute.minor": compute.split(".")[1]!,
    "nvidia.com/gpu.machine": node.instanceType,
    "nvidia.com/gpu.replicas": isShared ? String(slices) : "1",
    "nvidia.com/gpu.sharing-strategy": isShared ? "time-slicing" : "none",
    "nvidia.com/cuda.driver-version.full": make.driver,
    "nvidia.com/cuda.driver.major": make.driver.split(".")[0]!,
    "nvidia.com/cuda.runtime-version.full": cuda,
    "nvidia.com/mig.capable": String(/H100|A100/.test(model.name)),
    "nvidia.com/mig.strategy": sharing === "mig" ? "mixed" : "single",
    "nvidia.com/mps.capable": "false",
    "nvidia.com/gpu.deploy.dcgm-exporter": "true",
    ...migLabels(node, product),
  };
}

function migLabels({ gpus }: FleetNode, product: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const { instance } of gpus.flatMap(({ slots }) => slots)) {
    if (instance === undefined) continue;
    const prefix = `nvidia.com/mig-${instance.profile.replace("+", ".")}`;
    labels[`${prefix}.count`] = String(Number(labels[`${prefix}.count`] ?? 0) + 1);
    labels[`${prefix}.memory`] = String(instance.memoryMib);
    labels[`${prefix}.product`] = `${product}-MIG-${instance.profile.replace("+", ".")}`;
    labels[`${prefix}.slices.gi`] = String(instance.slices);
    labels[`${prefix}.slices.ci`] = String(instance.slices);
    labels[`${prefix}.replicas`] = "1";
    labels[`${prefix}.sharing-strategy`] = "none";
  }
  return labels;
}
