import { DIMENSIONS } from "../owner/owner.ts";
import { DIMENSION_MEANINGS, HOLDER_DIMENSIONS, MACHINE_DIMENSIONS, type ChargeDimension } from "./dimension.ts";

const SUBJECTS: Readonly<Record<string, readonly ChargeDimension[]>> = {
  payer: [...DIMENSIONS, "payer"],
  place: ["cluster", "node", "gpu", ...MACHINE_DIMENSIONS],
  workload: HOLDER_DIMENSIONS,
  kind: ["state", "because", "attribution", "unpriced"],
  time: ["chargeDay", "chargePeriod", "billingPeriod"],
};

/** Returns the list of all dimensions but labels in Markdown, by what they describe, with their meanings. */
export function dimensionsMarkdown(): string {
  return Object.entries(SUBJECTS)
    .map(([subject, names]) => `- ${subject}: ${names.map(withMeaning).join(", ")}`)
    .join("\n");
}

function withMeaning(name: ChargeDimension): string {
  const meaning = DIMENSION_MEANINGS[name];
  return meaning === undefined ? `\`${name}\`` : `\`${name}\` (${meaning})`;
}
