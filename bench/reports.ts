import { statSync } from "node:fs";
import { join } from "node:path";
import { periodOf } from "../domain/period.ts";
import { HOUR_MILLIS, momentText } from "../domain/time.ts";
import { defineBench, report } from "./frame.ts";
import { START, startChargedMonth } from "./ledger.ts";
import { mostMegabytes, withMost } from "./measure.ts";
import { commandFolder } from "./parts.ts";
import { storeConfig } from "./store.ts";

/** The export of the lines of a month of a fleet, in each format. */
export const reports = defineBench({
  name: "reports",
  about: "the lines of a month of a fleet exported",
  options: { gpus: 10_000, teams: 200, days: 31, lines: 5_000_000 },
  async run({ gpus, teams, days, lines }, kit) {
    const lent = await startChargedMonth(kit, { gpus, teams, days });
    const span = periodOf(START);
    const [hour] = await lent.store.query<{ lines: number }>(
      "SELECT toFloat64(count()) AS lines FROM charges WHERE run_id = (SELECT any(run_id) FROM charges)",
    );
    const hours = Math.min(days * 24, Math.ceil(lines / hour!.lines));
    const folder = commandFolder(kit);
    const prices = [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1" }];
    const config = folder.write("gpu-ledger.yaml", { store: storeConfig(lent), prices });
    const until = momentText(span.from + hours * HOUR_MILLIS);
    for (const format of ["csv", "ndjson", "parquet"]) {
      const file = join(folder.path, `lines.${format}`);
      const args = ["report", `${momentText(span.from)}/${until}`, "--lines", "--format", format, "--out", file];
      const begun = performance.now();
      const command = folder.start([...args, "--config", config]);
      const { result, most } = await withMost(
        () => mostMegabytes(command.processId),
        () => command.ended,
      );
      if (result.code !== 0) throw new Error(result.stderr);
      const perSecond = (hours * hour!.lines * 1000) / (performance.now() - begun);
      report(`${hours * hour!.lines} lines as ${format}`, perSecond, "lines/s", { atLeast: 100_000 });
      report("  memory of the command", most, "MB", { atMost: 300 });
      report("  size of the file", statSync(file).size / 1e6, "MB");
    }
  },
});
