import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { periodOf } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { ChargesQuestion } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import { readCounted, type Counted } from "./counted.ts";
import { sumDay, sumRuns, type DayOfRuns } from "./make.ts";
import { LINES, partsOf, smallestTable, type ChooseTable } from "./tables.ts";

/** Keeps sums of what is published, so that reports of months need not read every line of them. */
export interface Sums {
  /** Chooses what questions of an edition are answered from: lines where sums lack, of which more are made meanwhile. */
  at(edition: string): ChooseTable;
  /**
   * Makes sums of what an edition has that its forerunner had not, for the questions that were asked of late; and in the background of
   * this month and the one before, which dashboards read whether anybody asks here or not.
   */
  prepare(edition: string): Promise<void>;
  /** Resolves when what is made in the background is made. */
  made(): Promise<void>;
  /** Breaks off what is made in the background. */
  stop(): Promise<void>;
}

/** So few runs are summed before a question is answered; of more the questions do not wait. */
const WAITED_FOR = 24;
/** So many are summed at once: of a large fleet some million lines. */
const SUMMED_AT_ONCE = 200;
/** Spans of which it is remembered what counts. */
const MOST_COUNTED = 200;
/** Spans that are looked after: so many, and for so long after they were asked for. */
const MOST_PREPARED = 10;
const PREPARED_MILLIS = 15 * 60_000;

/** Keeps sums in the store, where other servers find them. */
export function createSums(
  store: StoreClient,
  { logger, now }: { readonly logger: Logger; readonly now: () => number },
): Sums {
  const counted = new LRUCache<string, Promise<Counted>>({ max: MOST_COUNTED });
  const asked = new LRUCache<string, ChargesQuestion>({ max: MOST_PREPARED, ttl: PREPARED_MILLIS });
  const waiting = new Map<string, () => Promise<void>>();
  let isStopped = false;
  let making: Promise<void> | undefined;

  /** Does something in the background, one thing after the other, once however often it is wanted meanwhile. */
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

  function countedAt(edition: string, question: ChargesQuestion): Promise<Counted> {
    const key = `${edition} ${keyOf(question)}`;
    const found = counted.get(key) ?? count(question);
    counted.set(key, found);
    found.catch(() => counted.delete(key));
    return found;
  }

  return {
    at: (edition) => async (question, dimensions) => {
      const name = smallestTable([...dimensions, ...question.where.map(({ dimension }) => dimension)]);
      if (name === undefined) return LINES;
      asked.set(keyOf(question), question);
      const { unsummed, parts, days, closed } = await countedAt(edition, question);
      for (const day of days) later(day.id, () => sumOneDay(day));
      if (unsummed.length > 0) {
        later(keyOf(question), () => sumAll(question));
        return LINES;
      }
      return partsOf(name, { parts, closed });
    },
    async prepare(edition) {
      for (const question of asked.values()) if (!isStopped) await countedAt(edition, question);
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

/** This month and the one before. */
function lately(now: number): Span {
  const { from, until } = periodOf(now);
  return { name: "lately", from: periodOf(from - 1).from, until };
}

function keyOf({ kind, span: { from, until } }: ChargesQuestion): string {
  return `${kind} ${from} ${until}`;
}
