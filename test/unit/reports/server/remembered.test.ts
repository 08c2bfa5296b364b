import { describe, expect, it } from "vitest";
import { createRemembered } from "../../../../reports/server/remembered.ts";

/** An answer that is made until `end`, and the signals of its makings. */
function createMaking() {
  const signals: AbortSignal[] = [];
  let end = (): void => {};
  const make = (signal: AbortSignal): Promise<{ readonly made: number }> => {
    signals.push(signal);
    return new Promise((resolve) => {
      end = () => resolve({ made: signals.length });
    });
  };
  return { signals, make, end: () => end() };
}

const of = (signal: AbortSignal) => ({ ledgerVersion: "1", key: "k", signal });
const small = (): number => 1;

describe("an answer that several requests wait for", () => {
  it("is made until the last of them has left, and is made again for the next", async () => {
    const remembered = createRemembered(10_000);
    const { signals, make, end } = createMaking();
    const [one, two, three] = [new AbortController(), new AbortController(), new AbortController()];
    void remembered.of(of(one.signal), make, small);
    void remembered.of(of(two.signal), make, small);
    one.abort();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    two.abort();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    const third = remembered.of(of(three.signal), make, small);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    end();
    expect(await third).toEqual({ made: 2 });
    three.abort();
    expect(await remembered.of(of(new AbortController().signal), make, small)).toEqual({ made: 2 });
  });

  it("may be recent: it is made again in the background, and waited for when it is stale", async () => {
    let now = 0;
    const remembered = createRemembered(10_000, () => now);
    let count = 0;
    const make = async (): Promise<{ readonly made: number }> => {
      count += 1;
      if (count === 4) throw new Error("the store is away");
      return Promise.resolve({ made: count });
    };
    const { signal } = new AbortController();
    const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const ask = () => remembered.recent({ key: "k", signal, ages: { fresh: 10, stale: 100 } }, make, small);
    expect(await ask()).toEqual({ made: 1 });
    await settled();
    now = 9;
    expect(await ask()).toEqual({ made: 1 });
    now = 99;
    expect(await Promise.all([ask(), ask()])).toEqual([{ made: 1 }, { made: 1 }]);
    await settled();
    expect([await ask(), count]).toEqual([{ made: 2 }, 2]);
    now = 300;
    expect(await ask()).toEqual({ made: 3 });
    await settled();
    now = 320;
    // The fourth fails in the background. Nobody waits for it.
    expect(await ask()).toEqual({ made: 3 });
    await settled();
    expect(await ask()).toEqual({ made: 3 });
    await settled();
    expect([await ask(), count]).toEqual([{ made: 5 }, 5]);
  });

  it("is not made for a request that has left before", () => {
    const remembered = createRemembered(10_000);
    const { signals, make } = createMaking();
    void remembered.of(of(AbortSignal.abort()), make, small);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
