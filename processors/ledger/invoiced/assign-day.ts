import { createHash } from "node:crypto";
import { FLEET } from "../../../domain/charge/fleet.ts";
import { keyOf, type WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { divideCost, type CostPart, type NodeTime } from "../../../domain/invoice/divide.ts";
import {
  OF_MACHINES,
  rateOf,
  type Booking,
  type InvoiceStatus,
  type SourceRules,
} from "../../../domain/invoice/rules.ts";
import { periodOf } from "../../../domain/period.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import { DAY_MILLIS, HOUR_MILLIS, hourOf } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { INVOICED_HOUR_COLUMNS, type InvoicedHourRow } from "../../../runtime/store/schema/invoices.ts";
import { ofLastRun, RUN_ID } from "../../../runtime/store/schema/runs.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";
import { announceRun, newRunId, publishRun, type Run } from "../runs/runs.ts";
import { digestOf } from "../runs/digest.ts";
import { poolCosts } from "./pool-costs.ts";
import { readCosts, readReserved, type ExportCost } from "./read-costs.ts";
import { readNodes, type MachineNodes, type NodeMachines } from "./read-nodes.ts";
import { spreadReservations } from "./spread-reservations.ts";

const digest = digestOf("invoiced_hours", namesOf(INVOICED_HOUR_COLUMNS), "hour");

/** The hashes of the rows that are published for the hours of a day. */
const PUBLISHED = `
SELECT toString(cluster) AS cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart, ${ofLastRun("basis")} AS hash
FROM runs WHERE kind = 'invoice'
  AND window_start >= fromUnixTimestamp64Milli({from:Int64}) AND window_start < fromUnixTimestamp64Milli({until:Int64})
GROUP BY cluster, window_start`;

/**
 * Divides the costs of exports over the hours of a UTC day, and publishes the hours that differ from the published ones. Returns these
 * hours. Each hour is as if all days were divided together. Fails with a `StoreError`.
 */
export async function assignDay(
  store: StoreClient,
  day: number,
  { rules, machines }: { readonly rules: readonly SourceRules[]; readonly machines: NodeMachines },
  { generation, now }: { readonly generation: number; readonly now: number },
): Promise<readonly WindowOfCluster[]> {
  const costs = (await readCosts(store, day)).filter(({ source }) => rules.some(({ name }) => name === source));
  const span = spanOf(costs, day);
  const reserved = await readReserved(store, reservationsOf(costs), span);
  const nodes = await readNodes(store, span, machines);
  const spread = spreadReservations(costs, reserved);
  const rows = rules.flatMap((source) => {
    const own = spread.filter((cost) => cost.source === source.name);
    return (source.share === "pool" ? poolCosts(own) : own).flatMap((cost) => rowsOf(cost, source, nodes, day));
  });
  const hours = groupedBy(rows, ({ cluster, hour }) => keyOf({ cluster, windowStart: hour }));
  const known = await store.query<WindowOfCluster & { readonly hash: string }>(PUBLISHED, {
    from: day,
    until: day + DAY_MILLIS,
  });
  const before = new Map(known.map(({ hash, ...window }) => [keyOf(window), { window, hash }]));
  const changed: WindowOfCluster[] = [];
  for (const key of new Set([...before.keys(), ...hours.keys()])) {
    const ofHour = hours.get(key) ?? [];
    const hash = createHash("sha256").update(JSON.stringify(ofHour, textOfBigint)).digest("base64url");
    if (before.get(key)?.hash === hash) continue;
    const [first] = ofHour;
    const window = first === undefined ? before.get(key)!.window : { cluster: first.cluster, windowStart: first.hour };
    const run = { ...window, generation, watermark: new Map(), publishedAt: now, runId: newRunId() };
    await publishHour(store, run, ofHour, hash);
    changed.push(window);
  }
  return changed;
}

function textOfBigint(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

async function publishHour(
  store: StoreClient,
  run: Run,
  rows: readonly InvoicedHourRow[],
  hash: string,
): Promise<void> {
  await announceRun(store, run);
  const blocks = createBlocks<InvoicedHourRow>([RUN_ID, ...INVOICED_HOUR_COLUMNS], { run_id: run.runId });
  for (const row of rows) blocks.write(row);
  if (rows.length > 0) await store.insertRows("invoiced_hours", namesOf(blocks.columns), blocks.take());
  await publishRun(store, "invoice", run, { scrapes: 0, ...(await digest(store, run)), basis: hash });
}

/** Returns whole hours with the day and all costs of machines that overlap it. */
function spanOf(costs: readonly ExportCost[], day: number): { readonly from: number; readonly until: number } {
  const ofMachines = costs.filter(({ machine, kind }) => machine !== "" || kind === "reservation");
  let [from, until] = [day, day + DAY_MILLIS];
  for (const cost of ofMachines) {
    from = Math.min(from, hourOf(cost.from));
    until = Math.max(until, hourOf(cost.until - 1) + HOUR_MILLIS);
  }
  return { from, until };
}

function reservationsOf(costs: readonly ExportCost[]): readonly string[] {
  return [...new Set(costs.flatMap(({ kind, reservation }) => (kind === "reservation" ? reservation : [])))];
}

/** Returns the rows of a cost in the hours of a day. */
function rowsOf(cost: ExportCost, rules: SourceRules, nodes: MachineNodes, day: number): readonly InvoicedHourRow[] {
  const isOfNode = cost.kind === "machine" || isBornByNode(cost, rules);
  const times = isOfNode && cost.machine !== "" ? nodes.of(cost.machine) : [];
  return divideCost(cost, times)
    .filter(({ hour }) => hour >= day && hour < day + DAY_MILLIS)
    .map((part) => rowOf(cost, part, part.node === undefined ? kindBeside(cost, isOfNode, nodes) : "machine", rules));
}

function isBornByNode({ kind }: ExportCost, { bookings }: SourceRules): boolean {
  const ofMachine = OF_MACHINES.find((each) => each === kind);
  return ofMachine !== undefined && bookings[ofMachine] === "node";
}

/** Returns the kind of a cost in time in which no node was its machine. */
function kindBeside({ kind, machine }: ExportCost, isOfNode: boolean, nodes: MachineNodes): RowKind {
  if (!isOfNode) return kind as RowKind;
  return nodes.has(machine) ? "outside" : "no-cluster";
}

type RowKind = "machine" | keyof SourceRules["bookings"];

function rowOf(cost: ExportCost, { hour, node, costs }: CostPart, kind: RowKind, rules: SourceRules): InvoicedHourRow {
  const status: InvoiceStatus = cost.isInvoiced ? "invoiced" : "provisional";
  const place: NodeTime = node ?? {
    cluster: FLEET,
    node: "",
    uid: "",
    from: Math.max(hour, cost.from),
    until: Math.min(hour + HOUR_MILLIS, cost.until),
  };
  const booked: Booking = kind === "machine" ? "node" : rules.bookings[kind];
  return {
    hour,
    cluster: place.cluster,
    node: place.node,
    uid: place.uid,
    from_at: place.from,
    until_at: place.until,
    booked,
    kind,
    machine: cost.machine,
    source: cost.source,
    account: cost.account,
    billing_period: periodOf(cost.billingFrom).from,
    region: cost.region,
    zone: cost.zone,
    instance_type: cost.instanceType,
    capacity_type: cost.capacityType,
    commitment: cost.commitment,
    currency: cost.currency,
    list_cost: costs.list,
    contracted_cost: costs.contracted,
    effective_cost: costs.effective,
    rate: rateOf(rules, cost) ?? "",
    status,
    is_divided: cost.until - cost.from > HOUR_MILLIS,
    lines: cost.lines,
  };
}
