import { execFile } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { FROM, UNTIL } from "./fleet.ts";
import { HOUR, type WeekFamily, type WeekSeries } from "./series.ts";

const run = promisify(execFile);
/** The longest blocks of a Prometheus with a retention of a week: 2 hours times 3, times 3 again. */
export const BLOCK_HOURS = 18;

/** The written blocks. */
export interface Written {
  /** The values of each block, in the order of time. */
  readonly blocks: readonly { readonly numSeries: number; readonly numSamples: number }[];
  readonly bytes: number;
}

/** Writes the week into a folder as blocks of Prometheus, each from a file in OpenMetrics format. */
export async function writeWeek(families: readonly WeekFamily[], data: string): Promise<Written> {
  const block = BLOCK_HOURS * HOUR;
  const page = `${data}.om`;
  for (let from = Math.floor(FROM / block) * block; from < UNTIL; from += block) {
    await writePage(families, page, Math.max(from, FROM), Math.min(from + block, UNTIL));
    const how = ["tsdb", "create-blocks-from", "openmetrics", `--max-block-duration=${BLOCK_HOURS}h`, "--quiet"];
    await run("promtool", [...how, page, data]);
    await rm(page);
  }
  return written(data);
}

async function writePage(families: readonly WeekFamily[], path: string, from: number, until: number): Promise<void> {
  const out = createWriteStream(path);
  for (const name of new Set(families.map((family) => family.name))) {
    out.write(`# TYPE ${name} gauge\n`);
    for (const family of families.filter((each) => each.name === name))
      for (const series of family.series()) {
        const lines = linesOf(family, series, from, until);
        if (lines !== "" && !out.write(lines)) await once(out, "drain");
      }
  }
  out.end("# EOF\n");
  await once(out, "close");
}

/**
 * Yields the samples of a series. A series that no panel reads over days, because its subject is not selected, has one sample per hour and all of the last
 * hour, in which panels read the current value.
 */
function linesOf(family: WeekFamily, series: WeekSeries, from: number, until: number): string {
  const { name, seconds, isReadWhole } = family;
  const { labels, isShown, valueAt } = series;
  const first = Math.max(from, series.from ?? from);
  const last = Math.min(until, series.until ?? until);
  if (first >= last) return "";
  const now = isReadWhole || isShown ? first : Math.max(first, UNTIL - HOUR);
  const times = [...multiples(HOUR, first, Math.min(last, now)), ...multiples(seconds, now, last)];
  const text = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  const start = `${name}{${text.join(",")}} `;
  return times.map((at) => `${start}${valueAt(at)} ${at}\n`).join("");
}

function* multiples(step: number, from: number, until: number): Generator<number> {
  for (let at = Math.ceil(from / step) * step; at < until; at += step) yield at;
}

async function written(data: string): Promise<Written> {
  const { stdout } = await run("du", ["--summarize", "--bytes", data]);
  const metas = (await readdir(data)).map(async (block) => {
    const text = await readFile(join(data, block, "meta.json"), "utf8");
    return JSON.parse(text) as { readonly minTime: number; readonly stats: Written["blocks"][number] };
  });
  const blocks = (await Promise.all(metas)).toSorted((a, b) => a.minTime - b.minTime).map(({ stats }) => stats);
  return { blocks, bytes: Number(stdout.split("\t")[0]) };
}
