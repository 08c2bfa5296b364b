import { createScrapeDecoder, encodeScrape, encodeStable } from "../../domain/messages/scrape-message.ts";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** A message's value as a later release may send it in the same schema: with fields and metrics that are unknown to this release. */
export function asNewer(topic: string, value: Uint8Array): Uint8Array {
  return topic === SAMPLES_TOPIC ? newerScrape(value) : newerFact(value);
}

/** Another metric in each row, and unknown fields in the description of the exporter and of each device. */
function newerScrape(value: Uint8Array): Uint8Array {
  const scrape = createScrapeDecoder().decode(value);
  if ("invalid" in scrape) throw new Error(scrape.invalid);
  const { columns, devices } = scrape.shape;
  const shape = {
    ...scrape.shape,
    columns: [...columns, "fabric_links"],
    devices: devices.map((device) => ({ ...device, fabricClique: 7 })),
  };
  const values = devices.flatMap((_device, row) => [
    ...scrape.values.subarray(row * columns.length, (row + 1) * columns.length),
    18,
  ]);
  const stable = { ...(JSON.parse(text.decode(encodeStable(scrape, shape))) as object), firmware: { dcgm: "9.1" } };
  return encodeScrape(utf8.encode(JSON.stringify(stable)), scrape, Float64Array.from(values));
}

/** Unknown fields, at the top level and in a list. */
function newerFact(value: Uint8Array): Uint8Array {
  const fact = JSON.parse(text.decode(value)) as Readonly<Record<string, unknown>>;
  const inLists = Object.entries(fact).map(([name, field]): [string, unknown] => [
    name,
    Array.isArray(field)
      ? field.map((entry: unknown) => (typeof entry === "object" ? { ...entry, reviewed: true } : entry))
      : field,
  ]);
  return utf8.encode(JSON.stringify({ ...Object.fromEntries(inLists), rack: { row: "r-4", unit: 12 } }));
}
