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
