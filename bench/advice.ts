import { compareBills } from "../cli/advise/what-if.ts";
import { DAY_MILLIS, HOUR_MILLIS, momentText } from "../domain/time.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { readWhatIf } from "../runtime/config/what-if.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { packed, PLANTED_PRICES, plantedFleet } from "../test/support/advice/planted-fleet.ts";
import { plantHours } from "../test/support/advice/planted-week.ts";
import { defineBench, report, type Kit } from "./frame.ts";
import { ownMegabytes, secondsOf, withMost } from "./measure.ts";
import { commandFolder } from "./parts.ts";
import { CLUSTER, copyHour, ROLLUPS, settled, startStore, storeConfig, USAGE, type BenchStore } from "./store.ts";

/** A Monday that begins a month of 31 days. */
const START = Date.UTC(2026, 5, 1);
const GPUS_OF_NODE = 8;
const WEEK = 7;
const RUNS = 3;
const RULES = { prices: PLANTED_PRICES, owners: { team: [{ namespaceLabel: "team" }] } };

/**
 * The cards of a week of a fleet, and the bill of a month beside the bill after a change. The store runs on the same machine. `each` is the
 * number of workloads of each kind of waste: a fifth of the GPUs has a card.
 */
export const advice = defineBench({
  name: "advice",
  about: "the cards of a week of a fleet, and both bills of a what-if of a month",
  options: { each: 100, healthy: 4_800, days: 30 },
  async run({ each, healthy, days }, kit) {
    const lent = await startStore(kit);
    const { store } = lent;
    const fleet = packed(plantedFleet({ seed: 1, each, healthy }), GPUS_OF_NODE);
    await plantHours(store, { cluster: CLUSTER, start: START, hours: 24, ...fleet });
    for (let hour = 24; hour < days * 24; hour++) {
      const [from, to] = [START + (hour % 24) * HOUR_MILLIS, START + hour * HOUR_MILLIS];
      await copyHour(store, USAGE, { from, to });
      if (hour < WEEK * 24) await copyHour(store, ROLLUPS, { from, to });
    }
    await settled(store);
    report(
      "GPUs of the fleet",
      fleet.nodes.reduce((sum, { gpus }) => sum + gpus, 0),
    );
    await measureCards(kit, lent);
    await measureWhatIf(store, days);
  },
});

/** The command is a process of its own, so its memory is that of the computation alone. */
async function measureCards(kit: Kit, lent: BenchStore): Promise<void> {
  const folder = commandFolder(kit);
  const config = folder.write("bench.yaml", { ...RULES, store: storeConfig(lent) });
  const span = `${momentText(START)}/${momentText(START + WEEK * DAY_MILLIS)}`;
  const memory: number[] = [];
  let cards = "";
  const seconds = await secondsOf(async () => {
    const command = folder.start(["advise", span, "--format", "csv", "--config", config]);
    const { result, most } = await withMost(
      () => ownMegabytes(command.processId),
      () => command.ended,
    );
    if (result.code !== 0) throw new Error(result.stderr);
    cards = result.stdout;
    memory.push(most);
  }, RUNS);
  report("cards of a week", cards.trim().split("\n").length - 1);
  report("  time to make them", seconds, "s", { atMost: 60 });
  report("  memory of the process", memory, "MB", { atMost: 1_000 });
}

async function measureWhatIf(store: StoreClient, days: number): Promise<void> {
  const read = readWhatIf("changes: [{ resize: { type: notebook }, to: { mig: 1g.5gb } }]");
  if ("problems" in read) throw new Error("the change is wrong");
  const config = parseConfig(JSON.stringify(RULES), { source: "bench", folder: ".", env: {} });
  const span = { name: "2026-06", from: START, until: START + days * DAY_MILLIS };
  const of = { span, by: ["team"], format: "json", write: () => undefined } as const;
  const compare = (): unknown =>
    compareBills({ store, config, ledger: ledgerOf(config) }, { path: "bench", whatIf: read.value }, of);
  report(`both bills of a month of ${days} days`, await secondsOf(compare, RUNS), "s", { atMost: 60 });
}
