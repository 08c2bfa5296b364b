import { parseExposition } from "../collectors/exporters/exposition/parse.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { writeSamples, type WrittenSeries } from "../test/support/prometheus-writer.ts";
import { createMovingPage, valuesOfPage } from "./page.ts";

const NODES = 125;
const GPUS_OF_NODE = 8;
const INTERVAL_MILLIS = 30_000;
const SCRAPES_OF_WRITE = 10;

/** Fills a server with the scrapes of 125 nodes of 8 GPUs, every 30 s, and with the series of `beside` of the same times. */
export async function fillPast(
  url: string,
  {
    hours,
    from,
    beside,
  }: {
    readonly hours: number;
    readonly from: number;
    readonly beside?: (from: number, until: number) => readonly WrittenSeries[];
  },
): Promise<void> {
  const targets = Array.from({ length: NODES }, (_, index) => {
    const page = createMovingPage(`gpu-node-${String(index).padStart(5, "0")}`, GPUS_OF_NODE);
    const added = { job: "dcgm", instance: `10.0.0.${index}:9400` };
    const series = parseExposition(page.bytes).samples.map(({ name, labels }) => ({
      labels: { ...Object.fromEntries(labels), ...added, __name__: name },
      times: [] as number[],
      values: [] as number[],
    }));
    return { page, series };
  });
  const scrapes = (hours * HOUR_MILLIS) / INTERVAL_MILLIS;
  for (let scrape = 0; scrape < scrapes; scrape++) {
    for (const [index, { page, series }] of targets.entries()) {
      page.collect();
      const lines = page.bytes
        .toString("latin1")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"));
      for (const [row, line] of lines.entries()) {
        series[row]!.times.push(from + scrape * INTERVAL_MILLIS + index * 200);
        series[row]!.values.push(Number(line.slice(line.lastIndexOf(" ") + 1)));
      }
    }
    if ((scrape + 1) % SCRAPES_OF_WRITE !== 0) continue;
    const all: readonly (WrittenSeries & { readonly times: number[]; readonly values: number[] })[] = targets.flatMap(
      ({ series }) => series,
    );
    if (all.length !== NODES * valuesOfPage(GPUS_OF_NODE)) throw new Error("the pages have other series");
    await writeSamples(url, all);
    const until = from + (scrape + 1) * INTERVAL_MILLIS;
    if (beside !== undefined) await writeSamples(url, beside(until - SCRAPES_OF_WRITE * INTERVAL_MILLIS, until));
    for (const { times, values } of all) times.length = values.length = 0;
  }
}
