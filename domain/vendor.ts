/** The vendor of a node's GPUs. */
export type Vendor = "nvidia" | "amd" | "intel" | "habana" | "aws";

/** The prefix of each vendor's extended resources. */
const RESOURCE_PREFIX: Readonly<Record<Vendor, string>> = {
  nvidia: "nvidia.com/",
  amd: "amd.com/",
  intel: "gpu.intel.com/",
  habana: "habana.ai/",
  aws: "aws.amazon.com/",
};

/** Returns whether a resource counts whole GPUs, their replicas or partitions, and not MIG instances, or memory or cores of GPUs. */
export function isWholeGpu(resource: string): boolean {
  return (
    vendorOfResource(resource) !== undefined &&
    !/\/mig-|\/gpumem|\/gpucores|memory|\/vgpu-(memory|cores)/.test(resource)
  );
}

/** Returns the vendor of an extended resource; undefined if no vendor has the name. */
export function vendorOfResource(resource: string): Vendor | undefined {
  return (Object.keys(RESOURCE_PREFIX) as Vendor[]).find((vendor) => resource.startsWith(RESOURCE_PREFIX[vendor]));
}
