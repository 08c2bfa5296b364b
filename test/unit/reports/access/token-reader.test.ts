import { describe, expect, it } from "vitest";
import { createTokenReader } from "../../../../reports/access/token-reader.ts";
import { generateToken, tokenHash } from "../../../../reports/access/token.ts";
import type { StoreClient } from "../../../../runtime/store/client.ts";
import { StoreError } from "../../../../runtime/store/store-error.ts";

const text = generateToken();
const row = {
  id: "1",
  what: "created",
  millis: "0",
  who: "ops",
  name: "a",
  role: "finance",
  teams: [],
  hash: tokenHash(text),
};
const AWAY = new StoreError("unavailable", "away", { retriable: true });

/** A reader on a store of one token that can go away or hang, with a clock that a test moves. */
function readerOf() {
  let [questions, millis] = [0, 0];
  let answer = (): Promise<unknown> => Promise.resolve([{ ...row, expires: null }]);
  const store = {
    query: () => {
      questions += 1;
      return answer();
    },
  } as Partial<StoreClient> as StoreClient;
  const reader = createTokenReader(store, { nowMillis: () => millis, monotonicMillis: () => millis }, []);
  return {
    ...reader,
    questions: () => questions,
    at: (later: number) => (millis = later),
    answers: (next: () => Promise<unknown>) => (answer = next),
  };
}

describe("the cache of tokens", () => {
  it("answers for three seconds, and combines many requests into one query", async () => {
    const { viewerOf, hasTokens, questions, at } = readerOf();
    await Promise.all([viewerOf(text), viewerOf(generateToken()), hasTokens(), viewerOf("no token")]);
    at(2_999);
    for (let time = 0; time < 9; time += 1) expect(await viewerOf(generateToken())).toBe("unknown");
    expect(questions()).toBe(1);
    at(3_000);
    await viewerOf(text);
    expect(questions()).toBe(2);
  });

  it("continues for half a minute while the store is away, and not longer", async () => {
    const { viewerOf, at, answers } = readerOf();
    await viewerOf(text);
    answers(() => Promise.reject(AWAY));
    at(29_999);
    expect(await viewerOf(text)).toMatchObject({ name: "a" });
    at(30_000);
    await expect(viewerOf(text)).rejects.toBe(AWAY);
    answers(() => Promise.resolve([]));
    expect(await viewerOf(text)).toBe("unknown");
  });

  it("is used soon if the store hangs; without the cache the request is refused", async () => {
    const { viewerOf, at, answers } = readerOf();
    await viewerOf(text);
    answers(() => new Promise(() => {}));
    at(3_000);
    const startedAt = performance.now();
    expect(await viewerOf(text)).toMatchObject({ name: "a" });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    at(4_500);
    const again = performance.now();
    expect(await viewerOf(text)).toMatchObject({ name: "a" });
    expect(performance.now() - again).toBeLessThan(500);
    at(30_000);
    await expect(viewerOf(text)).rejects.toMatchObject({ code: "timeout" });
  });

  it("does not hide a bug", async () => {
    const { viewerOf, at, answers } = readerOf();
    await viewerOf(text);
    answers(() => Promise.reject(new TypeError("a bug")));
    at(3_000);
    await expect(viewerOf(text)).rejects.toThrow("a bug");
  });
});
