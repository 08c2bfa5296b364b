import type { FamilyMeta } from "../../exporters/exposition/parse.ts";

/** The types of metrics by their number in both versions of the protocol. */
const TYPES = ["unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset"];

/** Returns the metadata of a family. Absent parts stay absent. */
export function familyMeta(type: number, help: string, unit: string): FamilyMeta {
  const meta: FamilyMeta = {};
  const known = type === 0 ? undefined : TYPES[type];
  if (known !== undefined) meta.type = known;
  if (help !== "") meta.help = help;
  if (unit !== "") meta.unit = unit;
  return meta;
}
