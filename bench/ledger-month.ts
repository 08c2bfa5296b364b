import { NOTHING_CLOSED } from "../processors/ledger/closed/closed.ts";
import type { StaleWindow } from "../processors/ledger/hours/stale-hours.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { inTurns } from "../runtime/in-turns.ts";
import { createRechargeThreads } from "../services/recharge.ts";
import { defineBench, report, type Kit } from "./frame.ts";
import { cpuOf, cpuSeconds, secondsOf, withMost } from "./measure.ts";
import { computeHour, copyToHours, hoursOf, startFleet } from "./ledger.ts";
import { CLUSTER, USAGE, type BenchStore } from "./store.ts";

/** The number of teams. Each has a fifth of the GPUs. */
const TEAMS = 5;
const CONFIG = `
owners: { team: [{ podLabel: team }] }
prices: [{ match: { instanceType: p5.48xlarge }, from: 2026-01-01, per: node-hour, effective: "60.00", gpuPart: "0.95" }]`;

/**
 * A month of a fleet charged again from the metered usage, after a price change, on one machine that also runs the store.
 */
export const ledgerMonth = defineBench({
  name: "ledger-month",
  about: "a month of a fleet charged again",
  options: { gpus: 10_000, days: 31 },
  async run({ gpus, days }, kit) {
    const lent = await startFleet(kit, gpus, TEAMS);
    await computeHour(lent.store, gpus);
    const hours = hoursOf(days);
    const runs = await copyToHours(lent.store, USAGE, hours);
    const stale = hours.map((windowStart, index) => ({
      cluster: CLUSTER,
      windowStart,
      usageRun: runs[index]!,
      servingRun: "",
      invoiceRun: "",
    }));
    await chargeAgain(kit, lent, stale, gpus);
  },
});

async function chargeAgain(
  kit: Kit,
  { address, processId }: BenchStore,
  hours: readonly StaleWindow[],
  gpus: number,
): Promise<void> {
  const recharge = createRechargeThreads(parseConfig(CONFIG, { source: "bench", folder: ".", env: {} }), address);
  kit.atEnd(() => recharge.stop());
  const turn = { generation: 4, now: Date.now(), closed: NOTHING_CLOSED };
  const chargeHour = async (hour: StaleWindow): Promise<void> => {
    const [outcome] = await recharge.charge([hour], turn);
    if (outcome?.status !== "fulfilled") throw outcome?.reason;
    const { breaches, chargeRows } = outcome.value;
    if (breaches.length > 0 || chargeRows < gpus) throw new Error("the hour does not have the expected charges");
  };
  const before = cpuSeconds(processId);
  let seconds: readonly number[] = [];
  const work = async (): Promise<void> => {
    seconds = await secondsOf(() => inTurns(hours, recharge.atOnce, chargeHour));
  };
  const { result: cpu, most } = await withMost(
    () => process.memoryUsage.rss() / 1e6,
    () => cpuOf(work),
  );
  report(`${hours.length} hours of ${gpus} GPUs charged again`, seconds, "s");
  report("  CPU time of the ledger's process, all of its threads", cpu, "s");
  report("  the same on two cores", cpu / 2, "s", { atMost: 120 });
  report("  CPU time of the store", cpuSeconds(processId) - before, "s");
  report("  memory of the ledger's process", most, "MB", { atMost: 1_000 });
}
