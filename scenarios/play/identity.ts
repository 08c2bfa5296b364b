import { createHash } from "node:crypto";

/** Returns a UUID in the form of version 8 (RFC 9562) that depends only on the parts: the same names are the same things in every run. */
export function uuidOf(...parts: readonly (string | number)[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

/** The UUID of a node's GPU as NVIDIA's driver writes one. */
export function gpuUuid(node: { readonly cluster: string; readonly name: string }, index: number): string {
  return `GPU-${uuidOf("gpu", node.cluster, node.name, index)}`;
}

/** The UUID of a MIG instance. An instance that is created again in a later layout has another UUID. */
export function instanceUuid(
  node: { readonly cluster: string; readonly name: string },
  of: { readonly gpu: number; readonly instance: string; readonly profile: string; readonly sinceMillis: number },
): string {
  return `MIG-${uuidOf("mig", node.cluster, node.name, of.gpu, of.instance, of.profile, of.sinceMillis)}`;
}

/** The PCI address of a GPU as NVIDIA's driver writes it. Each GPU has its own bus. */
export function pciBusId(index: number): string {
  return `00000000:${(0x10 + index).toString(16).toUpperCase().padStart(2, "0")}:00.0`;
}
