import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pause } from "../../../../runtime/clock.ts";
import { createLedgerVersions, type LedgerVersions } from "../../../../reports/server/ledger-version.ts";

/** A store that only answers queries for publications. */
const store = { runs: 1, isAway: false, questions: 0 };
let ledgerVersions: LedgerVersions;
let stopping: AbortController;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 2, 1, 12) });
  Object.assign(store, { runs: 1, isAway: false, questions: 0 });
  ledgerVersions = createLedgerVersions({ query }, () => "rules", Date.now);
  stopping = new AbortController();
});
afterEach(() => {
  stopping.abort();
  vi.useRealTimers();
});

function query<Row>(): Promise<readonly Row[]> {
  store.questions += 1;
  return store.isAway ? Promise.reject(new Error("away")) : Promise.resolve([{ runs: String(store.runs) } as Row]);
}

describe("the current ledger version", () => {
  it("is queried once for all requests within two seconds", async () => {
    const first = await ledgerVersions.current();
    store.runs += 1;
    await vi.advanceTimersByTimeAsync(1_999);
    expect(await ledgerVersions.current()).toBe(first);
    expect(store.questions).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await ledgerVersions.current()).not.toBe(first);
  });

  it("is another one in another hour", async () => {
    const first = await ledgerVersions.current();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(await ledgerVersions.current()).not.toBe(first);
  });

  it("is queried again after the store was away", async () => {
    store.isAway = true;
    await expect(ledgerVersions.current()).rejects.toThrow("away");
    store.isAway = false;
    expect(await ledgerVersions.current()).toMatch(/^[\w-]{16}$/);
  });
});

describe("a publication that the server polls for", () => {
  it("is announced when its required work is done, and only then", async () => {
    const made: string[] = [];
    void ledgerVersions.watch(async (ledgerVersion) => {
      await pause(300, stopping.signal);
      made.push(ledgerVersion);
    }, stopping.signal);
    await vi.advanceTimersByTimeAsync(1_000);
    const first = await ledgerVersions.current();
    expect(made).toEqual([first]);
    store.runs += 1;
    await vi.advanceTimersByTimeAsync(400);
    expect(await ledgerVersions.current()).toBe(first);
    await vi.advanceTimersByTimeAsync(600);
    const second = await ledgerVersions.current();
    expect(second).not.toBe(first);
    expect(made).toEqual([first, second]);
  });

  it("is announced after two seconds even if its required work is not done", async () => {
    void ledgerVersions.watch(() => pause(60_000, stopping.signal), stopping.signal);
    const first = await ledgerVersions.current();
    store.runs += 1;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await ledgerVersions.current()).not.toBe(first);
  });

  it("is prepared again after a failure, and is announced nevertheless", async () => {
    const prepare = vi.fn<(ledgerVersion: string) => Promise<void>>(() => Promise.resolve());
    prepare.mockRejectedValueOnce(new Error("away"));
    void ledgerVersions.watch(prepare, stopping.signal);
    await vi.advanceTimersByTimeAsync(600);
    expect(prepare.mock.calls).toEqual([[await ledgerVersions.current()], [await ledgerVersions.current()]]);
  });

  it("is polled less often without requests, and is announced within two seconds to the next request", async () => {
    void ledgerVersions.watch(() => Promise.resolve(), stopping.signal);
    const first = await ledgerVersions.current();
    await vi.advanceTimersByTimeAsync(60_000);
    const asked = store.questions;
    await vi.advanceTimersByTimeAsync(600_000);
    expect(store.questions - asked).toBe(10);
    store.runs += 1;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await ledgerVersions.current()).not.toBe(first);
    const again = store.questions;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(store.questions - again).toBe(20);
  });

  it("is not polled after the server was stopped", async () => {
    const watching = ledgerVersions.watch(() => Promise.resolve(), stopping.signal);
    await vi.advanceTimersByTimeAsync(600);
    stopping.abort();
    await watching;
    const { questions } = store;
    await vi.advanceTimersByTimeAsync(10_000);
    expect([questions, store.questions]).toEqual([2, 2]);
  });
});
