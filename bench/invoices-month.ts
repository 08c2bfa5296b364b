import type { ExportLine } from "../domain/invoice/export-line.ts";
import { DEFAULT_BOOKINGS } from "../domain/invoice/rules.ts";
import { exactOf } from "../domain/exact/rational.ts";
import { periodOf } from "../domain/period.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { createAssigner } from "../processors/ledger/invoiced/assign.ts";
import { storeExport } from "../processors/ledger/invoiced/store-export.ts";
import { defineBench, report } from "./frame.ts";
import { computeHour, copyToHours, hoursOf, startFleet } from "./ledger.ts";
import { cpuOf, cpuSeconds, secondsOf, withMost } from "./measure.ts";
import { CLUSTER, USAGE } from "./store.ts";

const NAME = "bench";
const COST = exactOf("98.32");
const GPUS_OF_NODE = 8;

/** Divides the hourly lines of a month over the hours of a fleet's nodes, on one machine that also runs the store. */
export const invoicesMonth = defineBench({
  name: "invoices-month",
  about: "a month's lines of an export divided over the hours of a fleet",
  options: { gpus: 10_000, days: 31 },
  async run({ gpus, days }, kit) {
    const { store, processId } = await startFleet(kit, gpus);
    await computeHour(store, gpus);
    const hours = hoursOf(days);
    await copyToHours(store, USAGE, hours);
    const version = { source: NAME, name: NAME, content: NAME, readBy: NAME, readAt: Date.now(), isWhole: true };
    const nodes = gpus / GPUS_OF_NODE;
    const lines = (function* () {
      for (const [index, from] of hours.entries())
        yield Array.from({ length: nodes }, (_, node) => ({
          ...lineOf(from, `node-${node}`),
          row: index * nodes + node + 1,
          file: NAME,
        }));
    })();
    const [stored] = await secondsOf(() =>
      storeExport(store, version, lines, () => ({ rows: hours.length * nodes, dropped: {} })),
    );
    report(`${hours.length * nodes} lines stored`, stored!, "s");
    const rules = [{ name: NAME, share: "instance", bookings: DEFAULT_BOOKINGS, rates: [] }] as const;
    const assigner = createAssigner(store, rules);
    const before = cpuSeconds(processId);
    let changed = 0;
    const work = async (): Promise<void> => {
      changed = (await assigner.assign({ generation: 2, now: Date.now() })).length;
    };
    let seconds: readonly number[] = [];
    const { result: cpu, most } = await withMost(
      () => process.memoryUsage.rss() / 1e6,
      () => cpuOf(async () => void (seconds = await secondsOf(work))),
    );
    if (changed !== hours.length) throw new Error(`${changed} hours of ${CLUSTER} have changed, not ${hours.length}`);
    report(`${hours.length} hours of ${gpus} GPUs divided`, seconds, "s");
    report("  CPU time of the ledger's process", cpu, "s");
    report("  CPU time of the store", cpuSeconds(processId) - before, "s");
    report("  memory of the ledger's process", most, "MB");
  },
});

function lineOf(from: number, machine: string): Omit<ExportLine, "row"> {
  const billing = periodOf(from);
  return {
    cloud: "aws",
    payer: "",
    account: "111",
    billingFrom: billing.from,
    billingUntil: billing.until,
    from,
    until: from + HOUR_MILLIS,
    kind: "machine",
    machine,
    region: "us-east-1",
    zone: "us-east-1a",
    instanceType: "p5.48xlarge",
    capacityType: "on-demand",
    commitment: "",
    reservation: "",
    machineHours: exactOf("1"),
    currency: "USD",
    costs: { list: COST, contracted: COST, effective: COST, billed: COST },
    description: "$98.32 per hour",
    invoice: "42",
  };
}
