import type { Vendor } from "../../../../domain/vendor.ts";
import { amdModeOf, amdPartitions } from "../../../../domain/amd-partition.ts";
import { gpusOfInstanceType } from "../../../../domain/gpu-model/instance-types.ts";
import { canonicalModel, vendorOfModel } from "../../../../domain/gpu-model/names.ts";
import type { GpuCount, NodeGpus } from "../../../../domain/inventory.ts";
import { offeredOn, physicalDevices } from "../../../../domain/share/node-gpus.ts";
import { gpuResource, type ResourceNames } from "../gpu-resource.ts";
import { parseMebibytes } from "../quantity.ts";
import type { Remarks } from "../remark.ts";
import { given } from "../wire.ts";
import { countIn, countWithRemarks, vendorOf, type NodeEvidence } from "./evidence.ts";
import { readRegister } from "./register.ts";

const MODELS: Readonly<Partial<Record<Vendor, readonly string[]>>> = {
  amd: ["amd.com/gpu.product-name", "beta.amd.com/gpu.product-name"],
  intel: ["gpu.intel.com/product"],
};
/** The labels in which AMD's labeler and device plugin write a mode such as `cpx_nps4`, on nodes whose GPUs are all in one mode. */
const AMD_MODE = ["amd.com/compute-memory-partition", "beta.amd.com/compute-memory-partition"];
/** The labels in which Intel's rules for Node Feature Discovery count the GPUs of each PCI id. */
const INTEL_COUNT = /^gpu\.intel\.com\/device-id\.[\da-f]{4}-[\da-f]{4}\.count$/;

/** Reads the GPUs of vendors other than NVIDIA: one kind for each vendor; for AMD, one for each offered mode. */
export function readOthers(
  evidence: NodeEvidence,
  names: ResourceNames | undefined,
  remarks: Remarks,
): readonly NodeGpus[] {
  const units = new Map<Vendor, Map<string, number>>();
  for (const [name, amount] of Object.entries(evidence.capacity)) {
    const resource = gpuResource(name, names);
    if (resource?.kind !== "gpu" || resource.vendor === "nvidia" || amount === 0) continue;
    units.set(resource.vendor, (units.get(resource.vendor) ?? new Map<string, number>()).set(name, amount));
  }
  const vendors = new Set([...units.keys(), ...vendorOfMachine(evidence)]);
  return [...vendors].flatMap((vendor) => {
    const offered = units.get(vendor) ?? new Map<string, number>();
    return vendor === "amd" ? readAmd(evidence, offered, remarks) : readKind(vendor, evidence, offered, remarks);
  });
}

/** Returns the vendors of a machine's GPUs without an offered resource, by its instance type or the devices of DRA. */
function vendorOfMachine({ instanceType, slices }: NodeEvidence): readonly ("amd" | "intel")[] {
  const typed = instanceType === undefined ? undefined : gpusOfInstanceType(instanceType)?.model;
  const vendors = [...slices.map(vendorOf), typed === undefined ? undefined : vendorOfModel(typed)];
  return vendors.filter((vendor) => vendor === "amd" || vendor === "intel");
}

function readKind(
  vendor: Vendor,
  evidence: NodeEvidence,
  offered: ReadonlyMap<string, number>,
  remarks: Remarks,
): readonly NodeGpus[] {
  const { labels } = evidence;
  const all = sumOf(offered.values());
  const labeled = Object.entries(labels).filter(([name]) => vendor === "intel" && INTEL_COUNT.test(name));
  const taken = countWithRemarks(
    [
      ...machineCounts(vendor, evidence),
      { by: "label", count: sumOf(labeled.map(([, value]) => countIn(value) ?? 0)) },
      { by: "capacity", count: all },
    ],
    remarks,
  );
  if (taken === undefined) return [];
  const kind = { ...plainKind(vendor, evidence), ...taken, ...given({ offered: all || undefined }) };
  return [offeredOn(kind, taken.count)];
}

/**
 * Reads AMD's GPUs. AMD's device plugin offers each partition as a device: under one name on a node whose GPUs are all in one mode, and
 * under one name for each mode with the naming strategy "mixed".
 */
function readAmd(evidence: NodeEvidence, offered: ReadonlyMap<string, number>, remarks: Remarks): readonly NodeGpus[] {
  const plain = plainKind("amd", evidence);
  const registered = readRegister("amd", evidence.annotations, remarks);
  if (registered !== undefined) {
    // HAMi offers shares. A pod's own requests have their size.
    const { count, memoryMiB } = registered;
    const named = registered.model === undefined ? undefined : canonicalModel(registered.model, memoryMiB);
    return [{ ...plain, countedBy: "register", count, ...given({ model: plain.model ?? named, memoryMiB }) }];
  }
  const mode = AMD_MODE.map((name) => amdModeOf(evidence.labels[name] ?? "")).find((found) => found !== undefined);
  const modes = [...offered].map(([name, units]) => ({ units, mode: amdModeOf(name) ?? mode }));
  if (modes.length > 1) {
    return modes.map(({ units, mode: own }) => {
      const partitions = own === undefined ? 1 : amdPartitions(own, plain.model);
      return amdKind({ ...plain, countedBy: "label", count: Math.ceil(units / partitions) }, units, partitions);
    });
  }
  const [only] = modes;
  const units = only?.units ?? 0;
  const partitions = only?.mode === undefined ? publishedPartitions(evidence) : amdPartitions(only.mode, plain.model);
  const byMode: readonly GpuCount[] =
    only?.mode === undefined ? [] : [{ by: "label", count: Math.ceil(units / partitions) }];
  const taken = countWithRemarks(
    [...machineCounts("amd", evidence), ...byMode, { by: "capacity", count: units }],
    remarks,
  );
  return taken === undefined ? [] : [amdKind({ ...plain, ...taken }, units, partitions)];
}

/** Returns the number of partitions per GPU that the DRA driver publishes; 1 if the GPUs are whole. */
function publishedPartitions({ slices }: NodeEvidence): number {
  const published = slices.filter(({ isPartition }) => isPartition === true);
  return published.length === 0 ? 1 : Math.round(published.length / physicalDevices(published).length);
}

function amdKind(counted: NodeGpus, units: number, partitions: number): NodeGpus {
  const kind: NodeGpus = { ...counted, ...given({ offered: units || undefined }) };
  return partitions > 1 ? { ...kind, partitions } : offeredOn(kind, kind.count);
}

/** Returns the counts of a machine's GPUs of one vendor that do not depend on offered resources. */
function machineCounts(vendor: Vendor, { instanceType, slices }: NodeEvidence): readonly GpuCount[] {
  const own = slices.filter((device) => vendorOf(device) === vendor);
  const typed = instanceType === undefined ? undefined : gpusOfInstanceType(instanceType);
  const isTyped = typed !== undefined && vendorOfModel(typed.model) === vendor;
  return [
    { by: "slices", count: physicalDevices(own).length },
    { by: "instance-type", count: isTyped ? typed.count : 0 },
  ];
}

function plainKind(vendor: Vendor, { labels, instanceType, slices }: NodeEvidence): NodeGpus {
  const published = slices.find((device) => device.model !== undefined && vendorOf(device) === vendor)?.model;
  const label = MODELS[vendor]?.map((name) => labels[name]).find((value) => value !== undefined);
  const typed = instanceType === undefined ? undefined : gpusOfInstanceType(instanceType)?.model;
  const written = published ?? label ?? (typed !== undefined && vendorOfModel(typed) === vendor ? typed : undefined);
  const memory = vendor === "amd" ? parseMebibytes(amdMemory(labels["amd.com/gpu.vram"])) : undefined;
  const memoryMiB = memory !== undefined && "value" in memory ? memory.value : undefined;
  const model = written === undefined ? undefined : canonicalModel(written, memoryMiB);
  return {
    vendor,
    count: 0,
    replicas: 1,
    sharing: "none",
    mig: { strategy: "none", profiles: {} },
    ...given({ model, memoryMiB }),
  };
}

/**
 * Returns a memory quantity in GiB: AMD's node labeler writes `192G` and means GiB
 * (https://github.com/ROCm/k8s-device-plugin/tree/master/cmd/k8s-node-labeller).
 */
function amdMemory(vram: string | undefined): string | undefined {
  return vram === undefined || !/^\d+[GMT]$/.test(vram) ? vram : `${vram}i`;
}

function sumOf(amounts: Iterable<number>): number {
  let sum = 0;
  for (const amount of amounts) sum += amount;
  return sum;
}
