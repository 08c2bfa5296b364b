import { storedBills } from "../cli/advise/stored-bills.ts";
import { periodOf } from "../domain/period.ts";
import { createNodePrices } from "../processors/ledger/charge/node-prices.ts";
import { prepareChanges } from "../processors/ledger/what-if/apply.ts";
import { touchedNodes } from "../processors/ledger/what-if/touched-nodes.ts";
import { isNodeChange, readWhatIf } from "../runtime/config/what-if.ts";
import { defineBench, report } from "./frame.ts";
import { computeHour, copyToHours, hoursOf, START, startFleet } from "./ledger.ts";
import { cpuSeconds, secondsOf, withMost } from "./measure.ts";
import { benchRules, CHARGES, settled, USAGE } from "./store.ts";

/** Each of the teams has a two-hundredth of the nodes. */
const TEAMS = 200;
const TEAM = "team-7";
const CHANGE = `changes: [{ release: { team: ${TEAM} } }]`;

/** Both bills of a month of a fleet after a change of one team, on one machine that also runs the store. */
export const whatIf = defineBench({
  name: "what-if",
  about: "the bill of a month after a change of one team",
  options: { gpus: 10_000, days: 31 },
  async run({ gpus, days }, kit) {
    const { store, processId } = await startFleet(kit, gpus, TEAMS);
    await computeHour(store, gpus);
    const hours = hoursOf(days).filter((hour) => hour !== START);
    for (const table of [USAGE, CHARGES]) await copyToHours(store, table, hours);
    await settled(store);
    const read = readWhatIf(CHANGE);
    if ("problems" in read) throw new Error(JSON.stringify(read.problems));
    const changes = read.value.changes.filter((change) => !isNodeChange(change));
    const { charge } = benchRules();
    const { owners, policies } = charge;
    const span = { ...periodOf(START), name: periodOf(START).name };
    const isRemoved = (): boolean => false;
    const prepared = prepareChanges(changes, {
      owners,
      prices: createNodePrices(charge.book),
      freedLeave: false,
      isRemoved,
    });
    const bill = { rules: charge, policy: policies[0]! };
    const before = cpuSeconds(processId);
    let nodes = 0;
    const work = async (): Promise<void> => {
      const touched = await touchedNodes(store, changes, { span, owners, isRemoved });
      nodes = touched.reduce((count, each) => count + each.nodes.length, 0);
      const bills = [bill, { ...bill, change: prepared.apply }] as const;
      const [was, otherwise] = (await storedBills(store, bills, { span, by: ["team", "state"], touched }))!;
      const isRight =
        was.total === otherwise.total && otherwise.lines.every(({ dimensions }) => dimensions["team"] !== TEAM);
      if (!isRight) throw new Error("the bills are not of released GPUs that the platform pays for");
    };
    const { result, most } = await withMost(
      () => process.memoryUsage.rss() / 1e6,
      () => secondsOf(work),
    );
    report(`a month of ${gpus} GPUs, of which a change touches ${nodes} nodes`, result, "s", { atMost: 45 });
    report("  CPU time of the store", cpuSeconds(processId) - before, "s");
    report("  memory of the command's process", most, "MB");
  },
});
