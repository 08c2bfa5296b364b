import { readdirSync, readFileSync } from "node:fs";
import type { UsageHour } from "../../domain/allocation/usage-hour.ts";
import { readCharges } from "../../processors/ledger/charging/read-charges.ts";
import type { Breach } from "../../processors/ledger/charge/invariant.ts";
import { NOTHING_CLOSED } from "../../processors/ledger/closing/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closing/frozen.ts";
import { chargeAgain, computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { ABSENT_AFTER_MILLIS, ledgerRules } from "../../processors/ledger/hours/rules.ts";
import { readServingLines } from "../../processors/ledger/serving/book-lines.ts";
import { readUsage } from "../../processors/ledger/metering/usage-rows.ts";
import { slicesOf } from "../../runtime/in-turns.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { groupLines, type Bill } from "../../scenarios/bill.ts";
import { billOf } from "../../scenarios/lines.ts";
import { readScenario } from "../../scenarios/read.ts";
import { clustersOf } from "../../scenarios/play/tenure.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import type { Delivery } from "./deliver.ts";
import { createPut, MESSAGES_PER_INSERT, messagesOf, type PlacedMessage } from "./play.ts";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";

const FOLDER = "test/scenarios";

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
}

/** Plays a scenario in a cluster of another name, so that many of them share one database. */
export function playAs(
  store: StoreClient,
  cluster: string,
  scenario: Scenario,
  options: PlayOptions = {},
): Promise<Played> {
  const { nodes, files } = scenario;
  const renamed = { ...scenario, nodes: nodes.map((node) => ({ ...node, cluster })) };
  return playScenario(store, files === undefined ? renamed : { ...renamed, files: { ...files, cluster } }, options);
}

/**
 * Stores the messages that the collectors would have sent, meters and charges hour by hour, repeats that when late messages have come, and reads the
 * published rows.
 */
export async function playScenario(
  store: StoreClient,
  scenario: Scenario,
  { deliver = inOrder, absentAfterMillis = ABSENT_AFTER_MILLIS, chargedTwice = 0 }: PlayOptions = {},
): Promise<Played> {
  const rules = rulesOf(scenario);
  const ledger = ledgerRules(rules, "", "", absentAfterMillis);
  const weights = createFrozenWeights(store);
  const { start, end } = scenario.period;
  const span = { from: hourOf(start), until: end };
  const clusters = new Set(clustersOf(scenario));
  const breaches: Breach[] = [];
  let turn = 0;
  let twice = 0;

  async function compute(cluster: string): Promise<void> {
    const hours: number[] = [];
    for (let hour = span.from; hour < end; hour += HOUR_MILLIS) hours.push(hour);
    for (let windowStart = hours.shift(); windowStart !== undefined; windowStart = hours.shift()) {
      const window = { cluster, windowStart };
      const asked = { generation: (turn += 1), facts: new Map(), now: end, closed: NOTHING_CLOSED, weights };
      const computed = await computeLedger(store, window, ledger, asked);
      const reopened = computed.reopened.map((other) => other.windowStart);
      hours.push(...reopened.filter((hour) => !hours.includes(hour)));
      breaches.push(...computed.breaches);
      if (twice === chargedTwice || computed.breaches.length > 0) continue;
      twice += 1;
      await chargeAgain(store, { ...window, usageRun: "", servingRun: "" }, ledger, {
        ...asked,
        generation: (turn += 1),
      });
      const runs = await store.query<{ hash: string }>(
        `SELECT toString(hash) AS hash FROM runs WHERE kind = 'charge' AND cluster = {cluster:String}
           AND window_start = fromUnixTimestamp64Milli({windowStart:Int64}) ORDER BY generation DESC LIMIT 2`,
        window,
      );
      if (runs[0]!.hash !== runs[1]!.hash) throw new Error(`an hour of ${cluster} is another from what is stored`);
    }
  }

  const put = createPut(store);
  const { first, late } = deliver(messagesOf(scenario));
  for (const portions of late.length > 0 ? [first, late] : [first]) {
    for (const messages of portions) await put(messages);
    for (const cluster of clusters) await compute(cluster);
  }
  const usage: UsageHour[] = [];
  for (const cluster of clusters) for await (const rows of readUsage(store, cluster, span)) usage.push(...rows);
  const bills = new Map<string, Bill>();
  for (const policy of rules.policies) {
    const charges = await readCharges(store, policy, span);
    const served = await readServingLines(store, policy.name, span);
    const isOwn = ({ cluster }: { readonly cluster: string }): boolean => clusters.has(cluster);
    bills.set(policy.name, billOf(charges.filter(isOwn), served.filter(isOwn)));
  }
  return { usage, bills, breaches };
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
