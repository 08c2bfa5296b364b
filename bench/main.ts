import { benchAdvice } from "./advice.ts";
import { benchAlerts } from "./alerts.ts";
import { benchEngines } from "./engines.ts";
import { benchGpuMetrics } from "./gpu-metrics.ts";
import { benchImportCharged } from "./import-charged.ts";
import { benchJoin } from "./join.ts";
import { benchKubernetes } from "./kubernetes.ts";
import { benchLedger } from "./ledger.ts";
import { benchLedgerMonth } from "./ledger-month.ts";
import { benchPages } from "./pages.ts";
import { benchPanels } from "./panels.ts";
import { benchParse } from "./parse.ts";
import { benchRemoteWrite } from "./remote-write.ts";
import { benchReports } from "./reports.ts";
import { benchServing } from "./serving.ts";
import { benchSizes } from "./sizes.ts";
import { benchSmall } from "./small.ts";
import { benchStart } from "./start.ts";
import { benchFleet, benchPipeline } from "./pipeline.ts";

const BENCHES: Readonly<Record<string, { readonly what: string; readonly run: () => void | Promise<void> }>> = {
  parse: { what: "reading pages, one core", run: benchParse },
  engines: { what: "pages of 2,000 inference engines beside those of 100,000 GPUs", run: benchEngines },
  "remote-write": { what: "samples by remote write and the same by scrapes, one core", run: benchRemoteWrite },
  sizes: { what: "bytes per row of each table of 1,000 GPUs", run: benchSizes },
  pipeline: { what: "from scrape to stored row, on embedded parts", run: benchPipeline },
  kubernetes: { what: "a cluster of 50,000 pods, listed and watched", run: benchKubernetes },
  join: { what: "samples joined to 20,000 workloads, one core", run: benchJoin },
  ledger: { what: "an hour of a fleet metered and charged", run: benchLedger },
  "ledger-month": { what: "a month of a fleet charged again, and explained", run: benchLedgerMonth },
  reports: { what: "a month of 10,000 GPUs and 200 teams summed, and its lines exported", run: benchReports },
  serving: { what: "an hour of 2,000 engines, and a month of 500 services by model and tenant", run: benchServing },
  pages: { what: "the pages of a month of 10,000 GPUs and 200 teams", run: benchPages },
  advice: { what: "cards of a week of 10,000 GPUs, and both bills of a month", run: benchAdvice },
  "import-charged": {
    what: "1,000 GPUs imported from a real Prometheus, until the last hour is charged",
    run: benchImportCharged,
  },
  panels: { what: "dashboards' queries to a real Prometheus, for a week of 10,000 GPUs", run: benchPanels },
  alerts: { what: "every rule evaluated for 10,000 GPUs, by a real Prometheus", run: benchAlerts },
  "gpu-metrics": { what: "/metrics/gpu of 100,000 GPUs with their owners, one core", run: benchGpuMetrics },
  small: { what: "up on embedded parts in front of a cluster of 250, 500 and 1,000 GPUs", run: benchSmall },
  start: { what: "the first start: pages, the charged past, the cards, memory", run: benchStart },
  fleet: { what: "100,000 GPUs every 30 s for five minutes", run: benchFleet },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(`no bench ${unknown.join(", ")}; the benches are: ${Object.keys(BENCHES).join(", ")}\n`);
  process.exit(2);
}
for (const name of asked.length > 0 ? asked : Object.keys(BENCHES)) {
  const { what, run } = BENCHES[name]!;
  process.stdout.write(`${name}: ${what}\n`);
  await run();
}
process.exit(0);
