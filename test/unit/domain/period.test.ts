import { describe, expect, it } from "vitest";
import { openSince } from "../../../domain/period.ts";

describe("the oldest open billing period", () => {
  it("is last month until its closing day, and this month from then on", () => {
    expect(openSince(Date.UTC(2026, 2, 2, 23, 59), 3)).toBe(Date.UTC(2026, 1, 1));
    expect(openSince(Date.UTC(2026, 2, 3), 3)).toBe(Date.UTC(2026, 2, 1));
    expect(openSince(Date.UTC(2026, 0, 1), 3)).toBe(Date.UTC(2025, 11, 1));
    expect(openSince(Date.UTC(2026, 0, 1), 1)).toBe(Date.UTC(2026, 0, 1));
  });
});
