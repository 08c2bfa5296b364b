import { describe, expect, it } from "vitest";
import { StoreError } from "../../../runtime/store/store-error.ts";
import { hasTokensAtStart } from "../../../services/reports.ts";

/** A guard that fails some times before it knows that there are tokens. */
function failing(times: number, code: "timeout" | "unavailable") {
  let asked = 0;
  return {
    asked: () => asked,
    hasTokens: () => {
      asked += 1;
      return asked > times
        ? Promise.resolve(true)
        : Promise.reject(new StoreError(code, "The store is not ready.", { retriable: true }));
    },
  };
}

describe("the tokens at the start of a server", () => {
  it("are waited for while the store is slow", async () => {
    const guard = failing(2, "timeout");
    expect(await hasTokensAtStart(guard)).toBe(true);
    expect(guard.asked()).toBe(3);
  });

  it("are given up after a time, and at once if the store is away", async () => {
    const slow = failing(Infinity, "timeout");
    await expect(hasTokensAtStart(slow, 300)).rejects.toMatchObject({ code: "timeout" });
    expect(slow.asked()).toBeGreaterThan(1);
    const away = failing(1, "unavailable");
    await expect(hasTokensAtStart(away)).rejects.toMatchObject({ code: "unavailable" });
    expect(away.asked()).toBe(1);
  });
});
