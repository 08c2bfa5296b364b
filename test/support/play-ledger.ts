import { readdirSync, readFileSync } from "node:fs";
import type { UsageHour } from "../../domain/allocation/usage-hour.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { BookedCharge } from "../../runtime/store/schema/charges.ts";
import type { BookedServingLine } from "../../runtime/store/schema/serving.ts";
import { readCharges } from "../../processors/ledger/charging/read-charges.ts";
import type { Breach } from "../../processors/ledger/charge/breach.ts";
import { NOTHING_CLOSED } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { chargeAgain, computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { computeHours } from "../../processors/ledger/hours/portion.ts";
import type { WindowOfCluster } from "../../domain/charge/window-of-cluster.ts";
import { ABSENT_AFTER_MILLIS, ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { readServingLines } from "../../processors/ledger/serving/book-lines.ts";
import { readUsage } from "../../processors/ledger/metering/usage-rows.ts";
import { inTurns, slicesOf } from "../../runtime/in-turns.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { groupLines, type Bill } from "../../scenarios/bill.ts";
import { billOf } from "../../scenarios/lines.ts";
import { readScenario } from "../../scenarios/read.ts";
import { clustersOf } from "../../scenarios/play/tenure.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import type { Scenario } from "../../scenarios/files.ts";
import type { Delivery } from "./deliver.ts";
import { createPut, MESSAGES_PER_INSERT, messagesOf, type PlacedMessage } from "./play.ts";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";

const FOLDER = "test/scenarios";
/** The number of clusters that are charged at the same time. */
const CLUSTERS_AT_ONCE = 4;

/** A time in milliseconds since the epoch. */
interface Span {
  readonly from: number;
  readonly until: number;
}

/** A scenario's file, and whether it names clusters, so that it cannot be played under another cluster's name. */
export interface ScenarioFile {
  readonly file: string;
  readonly scenario: Scenario;
  readonly isOfClusters: boolean;
}

/** All scenarios of the suite. */
export function scenarioFiles(): readonly ScenarioFile[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => {
      const text = readFileSync(`${FOLDER}/${file}`, "utf8");
      return { file, scenario: readScenario(text, file), isOfClusters: text.includes("cluster:") };
    });
}

/** A scenario's usage and bills in the store. */
export interface Played {
  readonly usage: readonly UsageHour[];
  readonly bills: ReadonlyMap<string, Bill>;
  readonly breaches: readonly Breach[];
}

/** The options of a play. */
export interface PlayOptions {
  /** The delivery of the messages; by default all at once and in order. */
  readonly deliver?: (messages: readonly PlacedMessage[]) => Delivery;
  readonly absentAfterMillis?: number;
  /** The number of hours that are charged again from their stored rows, with the same result expected; none by default. */
  readonly chargedTwice?: number;
  /** The number of hours that are computed together; by default all. */
  readonly hoursAtOnce?: number;
}

/** Plays a scenario in a cluster of another name, so that many of them share one database. */
export function playAs(
  store: StoreClient,
  cluster: string,
  scenario: Scenario,
  options: PlayOptions = {},
): Promise<Played> {
  return playScenario(store, inCluster(scenario, cluster), options);
}

/** Plays scenarios like {@link playAs}, each in the cluster of its name. Their messages are stored together, and their rows are read together. */
export async function playTogether(
  store: StoreClient,
  scenarios: Readonly<Record<string, Scenario>>,
  options: PlayOptions = {},
): Promise<ReadonlyMap<string, Played>> {
  const all = Object.entries(scenarios).map(([cluster, scenario]) => ({
    cluster,
    scenario: inCluster(scenario, cluster),
  }));
  const put = createPut(store);
  for (const messages of inOrder(all.flatMap(({ scenario }) => messagesOf(scenario))).first) await put(messages);
  const charged = all.map(({ scenario, ...of }) => ({
    ...of,
    scenario,
    charging: chargingOf(store, scenario, options),
  }));
  await inTurns(charged, CLUSTERS_AT_ONCE, ({ charging }) => charging.chargeAll());
  const readBill = createBillReader(store);
  const played = new Map<string, Played>();
  for (const { cluster, scenario, charging } of charged)
    played.set(cluster, { ...(await readPlayed(store, scenario, readBill)), breaches: charging.breaches });
  return played;
}

/**
 * Stores the messages that the collectors would have sent, meters and charges hour by hour, repeats that when late messages have come, and reads the
 * published rows.
 */
export async function playScenario(store: StoreClient, scenario: Scenario, options: PlayOptions = {}): Promise<Played> {
  const { deliver = inOrder } = options;
  const charging = chargingOf(store, scenario, options);
  const put = createPut(store);
  const { first, late } = deliver(messagesOf(scenario));
  for (const portions of late.length > 0 ? [first, late] : [first]) {
    for (const messages of portions) await put(messages);
    await charging.chargeAll();
  }
  return { ...(await readPlayed(store, scenario, createBillReader(store))), breaches: charging.breaches };
}

function inCluster(scenario: Scenario, cluster: string): Scenario {
  const { nodes, files } = scenario;
  const renamed = { ...scenario, nodes: nodes.map((node) => ({ ...node, cluster })) };
  return files === undefined ? renamed : { ...renamed, files: { ...files, cluster } };
}

/** The charging of a scenario. */
interface Charging {
  readonly breaches: readonly Breach[];
  /** Meters and charges all hours. */
  chargeAll(): Promise<void>;
}

function chargingOf(
  store: StoreClient,
  scenario: Scenario,
  { absentAfterMillis = ABSENT_AFTER_MILLIS, chargedTwice = 0, hoursAtOnce = Infinity }: PlayOptions,
): Charging {
  const ledger = ledgerRules(rulesOf(scenario), "", "", absentAfterMillis);
  const weights = createFrozenWeights(store);
  const { from, until: end } = spanOf(scenario);
  const breaches: Breach[] = [];
  let turn = 0;
  let twice = 0;

  async function chargeCluster(cluster: string): Promise<void> {
    const waiting = new Set<number>();
    for (let hour = from; hour < end; hour += HOUR_MILLIS) waiting.add(hour);
    while (waiting.size > 0) {
      const windows = [...waiting].slice(0, hoursAtOnce).map((windowStart) => ({ cluster, windowStart }));
      for (const { windowStart } of windows) waiting.delete(windowStart);
      const asked = { generation: (turn += 1), facts: new Map(), now: end, closed: NOTHING_CLOSED, weights };
      const { outcomes, reopened } = await computeHours(store, windows, (window, own) =>
        computeLedger(own, window, ledger, asked),
      );
      for (const { windowStart } of reopened) waiting.add(windowStart);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === "rejected") throw outcome.reason;
        breaches.push(...outcome.value.breaches);
        if (twice === chargedTwice || outcome.value.breaches.length > 0) continue;
        twice += 1;
        await isChargedAlike(windows[index]!);
      }
    }
  }

  async function isChargedAlike(window: WindowOfCluster): Promise<void> {
    const again = { generation: (turn += 1), facts: new Map(), now: end, closed: NOTHING_CLOSED, weights };
    await chargeAgain(store, { ...window, usageRun: "", servingRun: "", invoiceRun: "" }, ledger, again);
    const runs = await store.query<{ hash: string }>(
      `SELECT toString(hash) AS hash FROM runs WHERE kind = 'charge' AND cluster = {cluster:String}
         AND window_start = fromUnixTimestamp64Milli({windowStart:Int64}) ORDER BY generation DESC LIMIT 2`,
      { ...window },
    );
    if (runs[0]!.hash !== runs[1]!.hash) throw new Error(`an hour of ${window.cluster} is another from what is stored`);
  }

  return {
    breaches,
    async chargeAll() {
      for (const cluster of new Set(clustersOf(scenario))) await chargeCluster(cluster);
    },
  };
}

function spanOf({ period: { start, end } }: Scenario): Span {
  return { from: hourOf(start), until: end };
}

type BillReader = (
  policy: Policy,
  span: Span,
) => Promise<readonly [charges: readonly BookedCharge[], served: readonly BookedServingLine[]]>;

/** Creates a function that reads the lines of all clusters under a policy, once for equal questions. */
function createBillReader(store: StoreClient): BillReader {
  const read = new Map<string, ReturnType<BillReader>>();
  return (policy, span) => {
    const question = JSON.stringify([policy.name, policy.spread, span]);
    const lines =
      read.get(question) ?? Promise.all([readCharges(store, policy, span), readServingLines(store, policy.name, span)]);
    read.set(question, lines);
    return lines;
  };
}

async function readPlayed(
  store: StoreClient,
  scenario: Scenario,
  readBill: BillReader,
): Promise<Pick<Played, "usage" | "bills">> {
  const clusters = new Set(clustersOf(scenario));
  const span = spanOf(scenario);
  const usage: UsageHour[] = [];
  for (const cluster of clusters) for await (const rows of readUsage(store, cluster, span)) usage.push(...rows);
  const bills = new Map<string, Bill>();
  for (const policy of rulesOf(scenario).policies) {
    const [charges, served] = await readBill(policy, span);
    const isOwn = ({ cluster }: { readonly cluster: string }): boolean => clusters.has(cluster);
    bills.set(policy.name, billOf(charges.filter(isOwn), served.filter(isOwn)));
  }
  return { usage, bills };
}

function inOrder(messages: readonly PlacedMessage[]): Delivery {
  return { first: slicesOf(messages, MESSAGES_PER_INSERT), late: [] };
}

const COMPARED = ["team", "costCenter", "state", "because", "node", "gpu", "namespace", "pod", "unpriced"];

/** Bills in a comparable form: a text for each line, with all compared dimensions. */
export function billWords(bills: ReadonlyMap<string, Bill>): readonly string[] {
  return [...bills].flatMap(([policy, { lines, total }]) => [
    `${policy} ${total}`,
    ...groupLines(
      lines.map((line) => ({
        ...line,
        dimensions: { ...line.dimensions, unpriced: line.cost === undefined ? "true" : "" },
      })),
      COMPARED,
    ).map(
      ({ dimensions, gpuHours, cost, millijoules, carbon }) =>
        `${policy} ${Object.values(dimensions).join("|")} ${gpuHours} ${cost} ${millijoules} ${carbon}`,
    ),
  ]);
}
