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

  it("is not made for a request that has left before", () => {
    const remembered = createRemembered(10_000);
    const { signals, make } = createMaking();
    void remembered.of(of(AbortSignal.abort()), make, small);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});
