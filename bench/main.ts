import { advice } from "./advice.ts";
import { alerts } from "./alerts.ts";
import { engines } from "./engines.ts";
import type { Bench } from "./frame.ts";
import { gpuMetrics } from "./gpu-metrics.ts";
import { importCharged } from "./import-charged.ts";
import { invoices } from "./invoices.ts";
import { invoicesMonth } from "./invoices-month.ts";
import { kubernetes } from "./kubernetes.ts";
import { ledger } from "./ledger.ts";
import { ledgerMonth } from "./ledger-month.ts";
import { pages } from "./pages.ts";
import { parse } from "./parse.ts";
import { fleet, pipeline } from "./pipeline.ts";
import { remoteWrite } from "./remote-write.ts";
import { reports } from "./reports.ts";
import { serving } from "./serving.ts";
import { sizes } from "./sizes.ts";
import { small } from "./small.ts";
import { start } from "./start.ts";
import { whatIf } from "./what-if.ts";

const OF_SAMPLES = [parse, engines, remoteWrite, sizes, pipeline, fleet, kubernetes, gpuMetrics, alerts];
const OF_BOOKS = [
  ledger,
  ledgerMonth,
  reports,
  serving,
  pages,
  advice,
  whatIf,
  importCharged,
  invoices,
  invoicesMonth,
  small,
  start,
];
const BENCHES: readonly Bench[] = [...OF_SAMPLES, ...OF_BOOKS];

/** `npm run bench`, or one bench with its options: `npm run bench -- ledger --gpus 10000`. */
const [name, ...args] = process.argv.slice(2);
const chosen = BENCHES.filter((bench) => name === undefined || bench.name === name);
if (chosen.length === 0) {
  const lines = BENCHES.map(({ name: each, about, options }) => `  ${each}: ${about} ${JSON.stringify(options)}\n`);
  process.stderr.write(`There is no bench ${name}. The benches with their options:\n${lines.join("")}`);
  process.exit(2);
}
for (const bench of chosen) {
  process.stdout.write(`${bench.name}: ${bench.about}\n`);
  await bench.run(args);
}
process.exit(0);
