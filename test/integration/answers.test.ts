import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAnswers, type Answers } from "../../reports/server/answers.ts";
import { createLedgerVersions } from "../../reports/server/ledger-version.ts";
import { createRemembered } from "../../reports/server/remembered.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";

const PORTION_MILLIS = 5_000;
const ROWS = "SELECT number, repeat('x', 1000) FROM numbers(20000)";

describe("a file that is sent while it is read", () => {
  let store: StoreClient;

  beforeAll(async () => {
    store = await createTestDatabase("answers");
  });
  afterAll(() => store.close());

  const answersWithin = (portionMillis: number): Answers =>
    createAnswers({
      store,
      ledgerVersions: createLedgerVersions(store, () => "", Date.now),
      remembered: createRemembered(1_000_000),
      record: () => Promise.resolve(),
      now: Date.now,
      portionMillis,
    });
  /** The store for a caller, and the end of the caller's connection. */
  function storeOf(answers: Answers, name: string) {
    const raw = Object.assign(new EventEmitter(), { destroyed: false });
    const request = { viewer: { name, role: "finance", teams: "all" } } as unknown as FastifyRequest;
    return {
      store: answers.storeForFile(request, { raw } as unknown as FastifyReply),
      leave: () => raw.emit("close"),
    };
  }
  const open = (of: StoreClient): AsyncIterator<Uint8Array> => of.bytes(ROWS, {}, "CSV")[Symbol.asyncIterator]();
  async function sizeOf(of: StoreClient): Promise<number> {
    let size = 0;
    for await (const part of of.bytes(ROWS, {}, "CSV")) size += part.length;
    return size;
  }

  it("ends if its client does not read a portion in time, and leaves the slot to others", async () => {
    const answers = answersWithin(PORTION_MILLIS);
    const started = performance.now();
    const stalled = [open(storeOf(answers, "a").store), open(storeOf(answers, "b").store)];
    for (const each of stalled) expect((await each.next()).done).toBe(false);
    const opened = performance.now();
    // Both slots of files are taken until the time is over.
    expect(await sizeOf(storeOf(answers, "c").store)).toBeGreaterThan(20_000_000);
    expect(performance.now() - started).toBeGreaterThan(PORTION_MILLIS - 100);
    // The second one was opened later, on a busy machine much later.
    await sleep(Math.max(0, opened + PORTION_MILLIS + 500 - performance.now()));
    const rest = async (reader: AsyncIterator<Uint8Array>): Promise<void> => {
      while ((await reader.next()).done !== true);
    };
    for (const each of stalled) await expect(rest(each)).rejects.toMatchObject({ code: "canceled" });
  });

  it("gives its slot to the next when its client leaves", async () => {
    // Without the client that leaves, a slot is free after a longer time than this test may last.
    const answers = answersWithin(3_600_000);
    const [a, b] = [storeOf(answers, "a"), storeOf(answers, "b")];
    const readers = [open(a.store), open(b.store)];
    for (const each of readers) await each.next();
    a.leave();
    const c = storeOf(answers, "c");
    expect((await open(c.store).next()).done).toBe(false);
    for (const each of [b, c]) each.leave();
  });
});
