import { describe, expect, it } from "vitest";
import { readName, readsReserved } from "../../../../domain/owner/reserved.ts";

describe("names as people read them", () => {
  it("are equal in every case and form of Unicode, and differ by letters of other scripts", () => {
    expect(readName(" Visio\u0301n-2\u200d ")).toBe("visi\u00f3n-2");
    expect(readsReserved("PLATFORM")).toBe(true);
    expect(readsReserved("platform-team")).toBe(false);
    expect(readsReserved("pl\u0430tform")).toBe(false);
  });
});
