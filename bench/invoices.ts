import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { readExportFile } from "../invoices/read-export.ts";
import { defineBench, report } from "./frame.ts";
import { secondsOf } from "./measure.ts";
import { reportMembers } from "./invoice-rows.ts";

const BLOCK_ROWS = 20_000;

/** Reads an hourly report of AWS with 61 columns, CSV with gzip, of which one line of a hundred is of a GPU machine. */
export const invoices = defineBench({
  name: "invoices",
  about: "reading a report of AWS, CSV with gzip",
  options: { rows: 5_000_000 },
  async run({ rows }, kit) {
    const path = join(kit.folder(), "report.csv.gz");
    const blocks = Math.max(1, Math.round(rows / BLOCK_ROWS));
    const members = reportMembers(BLOCK_ROWS);
    const file = openSync(path, "w");
    writeSync(file, members.head);
    for (let block = 0; block < blocks; block++) writeSync(file, members.block);
    closeSync(file);
    const reading = readExportFile(path);
    let lines = 0;
    const [seconds] = await secondsOf(async () => {
      for await (const batch of reading.batches) lines += batch.length;
    });
    const summary = reading.summary();
    if (summary.rows !== blocks * BLOCK_ROWS || lines !== summary.rows / 100)
      throw new Error(`${summary.rows} rows and ${lines} lines were read`);
    report("size of the file", statSync(path).size / 1e6, "MB");
    report("size without gzip", (members.plainBytes * blocks) / 1e6, "MB");
    report(`reading ${summary.rows} rows`, seconds!, "s", { atMost: (180 * rows) / 5_000_000 });
    report("rows a second", summary.rows / seconds!);
    report("memory at most (resident)", process.resourceUsage().maxRSS / 1024, "MiB", { atMost: 400 });
  },
});
