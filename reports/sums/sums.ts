import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { periodOf } from "../../domain/period.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { ChargesQuestion } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import { readCounted, type Counted } from "./counted.ts";
import { sumDay, sumRuns, type DayOfRuns } from "./make.ts";
import { LINES, partsOf, smallestTable, type ChooseTable } from "./tables.ts";

/** Stored sums of published charges, so that reports of months need not read every line. */
export interface Sums {
  /**
   * Returns the choice of a table for questions of a ledger version. Questions use lines while sums are missing. Missing sums are made in the
   * meantime.
   */
  at(ledgerVersion: string): ChooseTable;
  /**
   * Makes the missing sums of a new ledger version for the recent questions. In the background, makes those of this month and the month before,
   * which dashboards read without a question here.
   */
  prepare(ledgerVersion: string): Promise<void>;
  /** Resolves when the work in the background is done. */
  made(): Promise<void>;
  /** Aborts the work in the background. */
  stop(): Promise<void>;
}

/** The number of runs up to which a question waits for their sums. */
const WAITED_FOR = 24;
/** The number of runs that are summed at once: some million lines of a large fleet. */
const SUMMED_AT_ONCE = 200;
/** The number of spans whose counted runs are remembered. */
const MOST_COUNTED = 200;
/** The number of spans that are prepared, and how long after their last question. */
const MOST_PREPARED = 10;
const PREPARED_MILLIS = 15 * MINUTE_MILLIS;

/** Creates sums in the store, which other servers also use. */
export function createSums(
  store: StoreClient,
  { logger, now }: { readonly logger: Logger; readonly now: () => number },
): Sums {
  const counted = new LRUCache<string, Promise<Counted>>({ max: MOST_COUNTED });
  const asked = new LRUCache<string, ChargesQuestion>({ max: MOST_PREPARED, ttl: PREPARED_MILLIS });
  const waiting = new Map<string, () => Promise<void>>();
  let isStopped = false;
  let making: Promise<void> | undefined;

  /** Adds a task to the background, one after the other. A task with the same key is queued once. */
  function later(key: string, make: () => Promise<void>): void {
    if (isStopped) return;
    if (!waiting.has(key)) waiting.set(key, make);
    making ??= makeAll();
  }

  async function makeAll(): Promise<void> {
    for (const [key, make] of waiting) {
      if (isStopped) break;
      try {
        await make();
      } catch (error) {
        logger.warn({ err: error }, "sums of charges could not be made; more is added up until they are");
      }
      waiting.delete(key);
    }
    making = undefined;
  }

  async function count(question: ChargesQuestion): Promise<Counted> {
    const found = await readCounted(store, question, now());
    const { unsummed } = found;
    if (unsummed.length === 0 || unsummed.length > WAITED_FOR) return found;
    try {
      await sumRuns(store, unsummed);
    } catch (error) {
      logger.warn({ err: error }, "sums of charges could not be made; lines are added up until they are");
      return found;
    }
    return readCounted(store, question, now());
  }

  async function sumAll(question: Pick<ChargesQuestion, "kind" | "span">): Promise<void> {
    for (;;) {
      const { unsummed } = await readCounted(store, question, now());
      if (unsummed.length === 0 || isStopped) return;
      await sumRuns(store, unsummed.slice(0, SUMMED_AT_ONCE));
      counted.clear();
    }
  }

  async function sumOneDay(day: DayOfRuns): Promise<void> {
    await sumDay(store, day);
    counted.clear();
  }

  function countedAt(ledgerVersion: string, question: ChargesQuestion): Promise<Counted> {
    const key = `${ledgerVersion} ${keyOf(question)}`;
    const found = counted.get(key) ?? count(question);
    counted.set(key, found);
    found.catch(() => counted.delete(key));
    return found;
  }

  return {
    at: (ledgerVersion) => async (question, dimensions) => {
      const name = smallestTable([...dimensions, ...question.where.map(({ dimension }) => dimension)]);
      if (name === undefined) return LINES;
      asked.set(keyOf(question), question);
      const { unsummed, parts, days, closed } = await countedAt(ledgerVersion, question);
      for (const day of days) later(day.id, () => sumOneDay(day));
      if (unsummed.length > 0) {
        later(keyOf(question), () => sumAll(question));
        return LINES;
      }
      return partsOf(name, { parts, closed });
    },
    async prepare(ledgerVersion) {
      for (const question of asked.values()) if (!isStopped) await countedAt(ledgerVersion, question);
      later("lately", () => sumAll({ kind: "showback", span: lately(now()) }));
    },
    async made() {
      while (making !== undefined) await making;
    },
    async stop() {
      isStopped = true;
      await making;
    },
  };
}

/** Returns this month and the month before. */
function lately(now: number): Span {
  const { from, until } = periodOf(now);
  return { name: "lately", from: periodOf(from - 1).from, until };
}

function keyOf({ kind, span: { from, until } }: ChargesQuestion): string {
  return `${kind} ${from} ${until}`;
}
