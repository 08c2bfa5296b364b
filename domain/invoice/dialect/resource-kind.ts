/** A kind of a line of usage, by what it is for. */
export type UsageKind = "machine" | "disk" | "network" | "licence" | "other";

/**
 * Returns the kind of a line of a machine by the words of its meter or its SKU. The words are those of Azure's meter categories, Google's
 * descriptions of SKUs and FOCUS's service categories. A licence is tried first, because its words name the machine it is for.
 */
export function kindByWords(words: string): "disk" | "network" | "licence" | undefined {
  if (/licen[cs]/i.test(words)) return "licence";
  if (/data ?transfer|bandwidth|egress|ingress|network|external ip|ip address/i.test(words)) return "network";
  if (/\bdisks?\b|\bpd\b|storage|volume|snapshot|local ssd/i.test(words)) return "disk";
  return undefined;
}

/** True for the names of support plans: `AWS Support (Business)`, `Azure Support`, `Premium Support`. */
export function isSupportPlan(name: string): boolean {
  return /\bsupport\b/i.test(name);
}

/** True if the words of a SKU are about GPUs: `Nvidia Tesla A100 GPU running in Americas`, `OCI - Compute - GPU - H100`. */
export function isGpuSku(words: string): boolean {
  return /\bGPUs?\b|\b(?:nvidia|radeon|instinct)\b/i.test(words);
}

/**
 * True for a SKU of GPUs of Google, and for the cores and the memory of a series whose machines all have GPUs: `A3 Instance Core running in
 * Iowa`. Source: https://cloud.google.com/compute/docs/accelerator-optimized-machines.
 */
export function isGooglePart(sku: string): boolean {
  return isGpuSku(sku) || /\b(?:A2|A3|A3Plus|A3Ultra|A4|A4X|G2|G4)\b(?=.*\b(?:Instance|Core|Ram|Cpu)\b)/i.test(sku);
}
