import { onTestFinished } from "vitest";
import { WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { createMonth } from "../../processors/ledger/charging/month.ts";
import { createDirtyFacts } from "../../processors/ledger/term/dirty-facts.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { SCHEDULE_TIMING } from "../../processors/ledger/term/schedule.ts";
import type { TermEvents } from "../../processors/ledger/term/term-events.ts";
import { TERM_TIMING } from "../../processors/ledger/term/term-timing.ts";
import { workTerm } from "../../processors/ledger/term/term-work.ts";
import type { TermLedger } from "../../processors/ledger/term/term-state.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertMessages } from "./insert-facts.ts";
import { factsOf } from "../../scenarios/play/facts.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createTestDatabase } from "./database.ts";
import { FACTS_END, openTestBus, withFactsStored } from "./pipeline.ts";
import { scenarioWith } from "./played.ts";
import { storeScenario } from "./play.ts";

/** How long a test waits for the effects of a term, and how often it checks. */
export const LONG = { timeout: 90_000, interval: 200 };
const QUICK = {
  ...SCHEDULE_TIMING,
  ...TERM_TIMING,
  refreshMillis: 1_000,
  quietMillis: 50,
  lookMillis: 250,
  dropMillis: 1e9,
};
/** The current hour is charged once. */
export const RARELY = { ...QUICK, refreshMillis: 60_000 };
const SILENT: TermEvents = {
  onRun: () => {},
  onCharged: () => {},
  onLooked: () => {},
  onWaiting: () => {},
  onDropped: () => {},
  onError: () => {},
};

/** An hour of one GPU at 1 an hour, held by vision. */
export const FLEET = scenarioWith({
  period: { start: "2026-03-02T00:00:00Z", end: "2026-03-02T01:00:00Z" },
  nodes: [{ name: "gpu-a", model: "NVIDIA-L4", gpus: 1 }],
  namespaces: { vision: { labels: { team: "vision" } } },
  pods: [{ name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 0.3 }],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1.00" }],
});

/** An hour after the fleet's end. */
export const NOW = FLEET.period.end + 3_600_000;

/** A working term on the fleet's database, from {@link NOW} on by a clock that a test can set; `without` leaves out the facts of one topic. */
export async function startTerm(database: string, without?: string) {
  const store = await createTestDatabase(database);
  const { bus, close } = await openTestBus();
  await storeScenario(store, FLEET, without);
  const clock = { offset: NOW - Date.now() };
  const errors: unknown[] = [];
  const rules = ledgerRules(rulesOf(FLEET), "rules");
  const abort = new AbortController();
  const asked: string[] = [];
  const query: StoreClient["query"] = (sql, parameters) => {
    asked.push(sql);
    return store.query(sql, parameters);
  };
  const options = {
    bus: withFactsStored(bus),
    store: { ...store, query },
    now: () => Date.now() + clock.offset,
    timing: QUICK,
    events: { ...SILENT, onError: (error: unknown) => errors.push(error) },
    ledger: { rules, meteredSince: () => 0 },
  };
  const terms: Promise<void>[] = [];
  const begin = (generation: number, others: Partial<typeof options & { ledger: TermLedger }> = {}): Promise<void> => {
    const term = workTerm({ ...options, ...others }, { generation, signal: abort.signal });
    terms.push(term);
    return term;
  };
  const done = begin(1);
  onTestFinished(async () => {
    abort.abort();
    await Promise.all(terms);
    await store.close();
    await close();
  });
  return { store, asked, errors, rules, clock, begin, done };
}

/** Each team's cost in the month so far, as `team cost`. */
export async function teamsOf(store: StoreClient): Promise<readonly string[]> {
  const { teams } = await createMonth(store, "default").refresh(NOW);
  return teams.map(({ team, cost }) => `${team} ${cost}`);
}

/** The part that finds the hours of late facts, with a bus whose partitions of facts end at `end`. */
export function dirtyFactsOf(store: StoreClient, nowMillis: number, end = FACTS_END) {
  const ends = () => Promise.resolve(new Map([[0, end]]));
  return createDirtyFacts({ store, ends, absentAfterMillis: 600_000, now: () => nowMillis });
}

/** Stores the facts of the fleet's pods again, as late facts at offsets of the bus from `first` on. */
export async function storeWorkloads(store: StoreClient, first = 100): Promise<void> {
  const late = [...factsOf(FLEET)].filter(({ topic }) => topic === WORKLOADS_TOPIC);
  await insertMessages(store, late, first);
}
