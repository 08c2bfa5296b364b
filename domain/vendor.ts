/** Who makes the GPUs of a node. */
export type Vendor = "nvidia" | "amd" | "intel" | "habana" | "aws";

/** How the names of each vendor's extended resources begin. */
const RESOURCE_PREFIX: Readonly<Record<Vendor, string>> = {
  nvidia: "nvidia.com/",
  amd: "amd.com/",
  intel: "gpu.intel.com/",
  habana: "habana.ai/",
  aws: "aws.amazon.com/",
};

/** Whether a resource counts whole GPUs, their replicas or partitions: no instances of MIG, and no memory or cores of GPUs. */
export function isWholeGpu(resource: string): boolean {
  return (
    vendorOfResource(resource) !== undefined &&
    !/\/mig-|\/gpumem|\/gpucores|memory|\/vgpu-(memory|cores)/.test(resource)
  );
}

/** Whose GPUs an extended resource is of; undefined for a name of no vendor's. */
export function vendorOfResource(resource: string): Vendor | undefined {
  return (Object.keys(RESOURCE_PREFIX) as Vendor[]).find((vendor) => resource.startsWith(RESOURCE_PREFIX[vendor]));
}
