import type { InsertBody, StoreClient } from "./client.ts";

/** Answers several questions of one kind with few statements. Returns the answers in the order of the questions. */
export type AnswerAll<Asked, Answer> = (store: StoreClient, asked: readonly Asked[]) => Promise<readonly Answer[]>;

/** The store of one of several works that run in step. */
interface SteppingStore extends StoreClient {
  together<Asked, Answer>(answerAll: AnswerAll<Asked, Answer>, asked: Asked): Promise<Answer>;
}

/**
 * Asks the store a question of one work. If other works run in step with this one, their questions of the same kind share its statements.
 * The answer is the same either way. Fails with a `StoreError`.
 */
export async function together<Asked, Answer>(
  store: StoreClient,
  answerAll: AnswerAll<Asked, Answer>,
  asked: Asked,
): Promise<Answer> {
  if ("together" in store) return (store as SteppingStore).together(answerAll, asked);
  const [answer] = await answerAll(store, [asked]);
  return answer!;
}

/**
 * Runs `work` on all items at the same time, each with a store of its own. Whenever all works wait for the store, what they have asked by
 * {@link together} and what they insert into the same table is sent at once. The store plans a statement for as long as it works on a few
 * thousand rows, so a hundred small works take little more time than one. Returns the results in the order of the items. The failure of a
 * shared statement is the failure of each work that waits for it.
 */
export async function inStep<Item, Result>(
  store: StoreClient,
  items: readonly Item[],
  work: (item: Item, store: StoreClient) => Promise<Result>,
): Promise<readonly PromiseSettledResult<Result>[]> {
  if (items.length === 1) return Promise.allSettled([work(items[0]!, store)]);
  const step = createStep(store);
  return Promise.allSettled(
    items.map(async (item) => {
      const member = step.join();
      try {
        return await work(item, member.store);
      } finally {
        member.leave();
      }
    }),
  );
}

/** A question or an insert that waits. Those with an equal `kind` are sent at once. */
interface Waiting {
  readonly kind: unknown;
  readonly of: Member;
  readonly asked: unknown;
  readonly answerAll: AnswerAll<never, unknown>;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

/** A work that runs in step with others. */
interface Member {
  readonly store: StoreClient;
  leave(): void;
}

function createStep(store: StoreClient): { join(): Member } {
  /** The number of answers that each work waits for. */
  const open = new Map<Member, number>();
  /** The order in which the works came to each kind for the first time. */
  const order = new Map<unknown, number>();
  let waiting: readonly Waiting[] = [];
  let isLooking = false;
  /** The number of kinds that have been sent and have no answer yet. */
  let sent = 0;

  /** Sends what waits, if no work can go on without an answer. */
  function look(): void {
    isLooking = false;
    if (sent > 0 || waiting.length === 0 || [...open.values()].includes(0)) return;
    // The works that are behind go first, because all works come to the same questions, and those ahead can wait for them.
    const orderOf = ({ kind }: Waiting): number => order.get(kind)!;
    const first = Math.min(...waiting.map(orderOf));
    const behind = new Set(waiting.filter((each) => orderOf(each) === first).map(({ of }) => of));
    const kinds = new Map<unknown, Waiting[]>(waiting.filter(({ of }) => behind.has(of)).map(({ kind }) => [kind, []]));
    const stays: Waiting[] = [];
    for (const each of waiting) (kinds.get(each.kind) ?? stays).push(each);
    waiting = stays;
    for (const same of kinds.values()) void answer(same);
  }

  async function answer(same: readonly Waiting[]): Promise<void> {
    sent += 1;
    try {
      const answers = await same[0]!.answerAll(store, same.map(({ asked }) => asked) as never[]);
      for (const [index, { resolve }] of same.entries()) resolve(answers[index] as never);
    } catch (error) {
      for (const { reject } of same) reject(error);
    } finally {
      sent -= 1;
      lookSoon();
    }
  }

  /** Looks once the works have gone on as far as they can. */
  function lookSoon(): void {
    if (isLooking) return;
    isLooking = true;
    setImmediate(look);
  }

  return {
    join() {
      const ask = async <Asked, Answer>(
        kind: unknown,
        answerAll: AnswerAll<Asked, Answer>,
        asked: Asked,
      ): Promise<Answer> => {
        open.set(member, open.get(member)! + 1);
        if (!order.has(kind)) order.set(kind, order.size);
        lookSoon();
        try {
          return await new Promise<Answer>((resolve, reject) => {
            waiting = [...waiting, { kind, of: member, asked, answerAll, resolve, reject }];
          });
        } finally {
          open.set(member, open.get(member)! - 1);
        }
      };
      const stepping: SteppingStore = {
        ...store,
        together: (answerAll, asked) => ask(answerAll, answerAll, asked),
        insertRows(table, columns, body, options) {
          if (!isPieces(body)) return store.insertRows(table, columns, body, options);
          const insertAll = async (to: StoreClient, bodies: readonly (readonly Uint8Array[])[]) => {
            const outcome = await to.insertRows(table, columns, bodies.flat(), options);
            return bodies.map(() => outcome);
          };
          return ask(JSON.stringify([table, columns, options]), insertAll, body);
        },
        insertJson(table, rows, options) {
          const insertAll = async (to: StoreClient, all: readonly (readonly object[])[]) => {
            const outcome = await to.insertJson(table, all.flat(), options);
            return all.map(() => outcome);
          };
          return ask(JSON.stringify([table, options]), insertAll, rows);
        },
      };
      const member: Member = {
        store: stepping,
        leave() {
          open.delete(member);
          lookSoon();
        },
      };
      open.set(member, 0);
      return member;
    },
  };
}

function isPieces(body: InsertBody): body is readonly Uint8Array[] {
  return Array.isArray(body);
}
