import { SAMPLES_TOPIC, SERVING_TOPIC } from "../../../domain/messages/topics.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import type { Bus } from "../../../runtime/bus/bus.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { LedgerRules } from "../charging/rules.ts";
import { NOTHING_CLOSED } from "../closed/closed.ts";
import { createFrozenWeights, type FrozenWeights } from "../closed/frozen.ts";
import type { StaleWindow } from "../hours/stale-hours.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { createAssigner, type Assigner } from "../invoiced/assign.ts";
import type { Books } from "./books.ts";
import { createDirtyFacts, type DirtyFacts } from "./dirty-facts.ts";
import {
  createDirtyWindows,
  SAMPLE_WINDOWS,
  SERVING_WINDOWS,
  type DirtyWindows,
  type PartitionEnds,
} from "./dirty-windows.ts";
import type { Term } from "./leader.ts";
import { createRecharge, type Recharge } from "./recharge.ts";
import { createSchedule, type Schedule } from "./schedule.ts";
import type { TermEvents } from "./term-events.ts";
import type { TermTiming } from "./term-timing.ts";

/** The rules and limits by which a term meters and charges. */
export interface TermLedger {
  readonly rules: LedgerRules;
  /** Returns the time before which hours are no longer metered, because their raw rows have begun to expire. */
  meteredSince(nowMillis: number): number;
  /** Charges hours again; by default the term itself does it. */
  readonly recharge?: Recharge;
}

/** The dependencies of a term. */
export interface TermOptions {
  readonly bus: Bus;
  readonly store: StoreClient;
  readonly now: () => number;
  readonly events: TermEvents;
  readonly timing: TermTiming;
  readonly ledger: TermLedger;
}

/** The state of a term, with its dependencies. */
export interface TermState extends TermOptions, Term {
  readonly samples: DirtyWindows;
  readonly serving: DirtyWindows;
  readonly facts: DirtyFacts;
  readonly schedule: Schedule;
  readonly weights: FrozenWeights;
  readonly again: Recharge;
  /** Absent if the configuration has no exports. */
  readonly invoices: Assigner | undefined;
  /** Waiting windows with new samples, by key. Facts alone change no rollup. */
  readonly sampled: Set<string>;
  /** Hours that facts have changed, until a look is complete. */
  readonly changed: WindowOfCluster[];
  /** The running hours. Their charges have their own timing. */
  running: readonly WindowOfCluster[];
  /** The first hour of each cluster. */
  known: ReadonlyMap<string, number>;
  books: Books;
  /** The version of the books that were read. */
  booksAt: string | undefined;
  /** The stale hours that still wait. */
  stale: readonly StaleWindow[];
  /** When the running hours are charged next, and when dirty hours and superseded runs are looked for. */
  ledgerAt: number;
  lookAt: number;
  lookWait: number;
  dropAt: number;
  /** The latest time that the work has used. */
  latest: number;
}

/** Creates the state of a term that has not looked for anything yet. */
export function createTermState(options: TermOptions, term: Term): TermState {
  const { bus, store, now, timing, ledger } = options;
  const ends = (topic: string): Promise<PartitionEnds> => partitionEnds(bus, topic);
  const { overlapMillis } = timing;
  const { rules } = ledger;
  return {
    ...options,
    ...term,
    samples: createDirtyWindows({ ...SAMPLE_WINDOWS, store, ends: () => ends(SAMPLES_TOPIC), now, overlapMillis }),
    serving: createDirtyWindows({ ...SERVING_WINDOWS, store, ends: () => ends(SERVING_TOPIC), now, overlapMillis }),
    facts: createDirtyFacts({ store, ends, absentAfterMillis: rules.absentAfterMillis, now }),
    schedule: createSchedule(timing),
    weights: createFrozenWeights(store),
    again: ledger.recharge ?? createRecharge(store, rules),
    invoices: rules.charge.invoices && createAssigner(store, rules.charge.invoices),
    sampled: new Set(),
    changed: [],
    running: [],
    known: new Map(),
    books: { closed: NOTHING_CLOSED, lives: [], stale: [], begun: undefined },
    booksAt: undefined,
    stale: [],
    ledgerAt: 0,
    lookAt: 0,
    lookWait: 0,
    dropAt: 0,
    latest: 0,
  };
}

/** Returns the time, which never goes back within a term. */
export function timeOf(term: TermState): number {
  return (term.latest = Math.max(term.latest, term.now()));
}

/** Returns whether an hour has not ended. */
export function isRunning({ now }: TermState, { windowStart }: WindowOfCluster): boolean {
  return now() < windowStart + HOUR_MILLIS;
}

async function partitionEnds(bus: Bus, topic: string): Promise<PartitionEnds> {
  return new Map((await bus.watermarks(topic)).map(({ partition, high }) => [partition, high]));
}
