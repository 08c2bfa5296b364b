import type { Logger } from "pino";
import type { StoreClient } from "../../runtime/store/client.ts";
import { monthsIn } from "../question/span.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { fillSums, readUnsummed, type UnsummedRun } from "./fill.ts";
import { LINES, smallestTable, type ChooseTable } from "./tables.ts";

/** Keeps sums of what is published, so that reports of months need not read every line of them. */
export interface Sums {
  /** Chooses what questions of an edition are answered from: lines where sums lack, of which more are made meanwhile. */
  at(edition: string): ChooseTable;
  /** Breaks off what is made in the background. */
  stop(): Promise<void>;
}

/** So few runs are summed before a question is answered; of more the questions do not wait. */
const WAITED_FOR = 24;
/** So many are summed at once: of a large fleet some million lines. */
export const SUMMED_AT_ONCE = 200;

/** Keeps sums in the store, where other servers find them. */
export function createSums(store: StoreClient, logger: Logger): Sums {
  const stopping = new AbortController();
  let looked: { readonly edition: string; readonly unsummed: Promise<readonly UnsummedRun[]> } | undefined;
  let filling: Promise<void> | undefined;

  async function fillAll(): Promise<void> {
    try {
      for (let runs = await readUnsummed(store); runs.length > 0; runs = await readUnsummed(store)) {
        if (stopping.signal.aborted) return;
        await fillSums(store, runs.slice(0, SUMMED_AT_ONCE));
        looked = undefined;
      }
    } catch (error) {
      logger.warn({ err: error }, "sums of charges could not be made; lines are added up until they are");
    }
  }

  async function look(): Promise<readonly UnsummedRun[]> {
    const unsummed = await readUnsummed(store);
    if (unsummed.length > WAITED_FOR) {
      filling ??= fillAll().finally(() => (filling = undefined));
      return unsummed;
    }
    if (unsummed.length > 0) await fillSums(store, unsummed);
    return [];
  }

  function unsummedAt(edition: string): Promise<readonly UnsummedRun[]> {
    if (looked?.edition !== edition) {
      const now = { edition, unsummed: look() };
      looked = now;
      now.unsummed.catch(() => {
        if (looked === now) looked = undefined;
      });
    }
    return looked.unsummed;
  }

  return {
    at: (edition) => async (question, dimensions) => {
      const table = smallestTable([...dimensions, ...question.where.map(({ dimension }) => dimension)]);
      if (table === LINES) return LINES;
      return (await unsummedAt(edition)).some((run) => isOf(run, question)) ? LINES : table;
    },
    async stop() {
      stopping.abort();
      await filling;
    },
  };
}

/** Whether lines of a run can belong to what is asked. */
function isOf({ kind, windowStart, billingPeriod }: UnsummedRun, { span }: ChargesQuestion): boolean {
  return (
    kind === "close" || (windowStart >= span.from && windowStart < span.until) || monthsIn(span).includes(billingPeriod)
  );
}
