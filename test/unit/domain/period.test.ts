import { describe, expect, it } from "vitest";
import { closesFrom, lastDue, periodOf, periodsDue, readPeriod } from "../../../domain/period.ts";

describe("a billing period", () => {
  it("is a UTC calendar month, named by its year and month", () => {
    const march = { name: "2026-03", from: Date.UTC(2026, 2, 1), until: Date.UTC(2026, 3, 1) };
    expect(readPeriod("2026-03")).toEqual(march);
    expect(periodOf(Date.UTC(2026, 2, 31, 23, 59, 59, 999))).toEqual(march);
    expect(readPeriod("2026-12")!.until).toBe(Date.UTC(2027, 0, 1));
  });

  it("has no other form", () => {
    for (const text of ["2026-3", "2026-13", "2026-00", "2026-03-01", "March", ""])
      expect(readPeriod(text)).toBeUndefined();
  });

  it("can be closed from the closing day of the next month on", () => {
    expect(closesFrom(readPeriod("2026-12")!, 3)).toBe(Date.UTC(2027, 0, 3));
  });

  it("is due from that day on, together with all earlier periods that are not closed", () => {
    const january = readPeriod("2026-01")!;
    const due = (now: number) => periodsDue(january, now, 3).map(({ name }) => name);
    expect(due(Date.UTC(2026, 1, 3) - 1)).toEqual([]);
    expect(due(Date.UTC(2026, 1, 3))).toEqual(["2026-01"]);
    expect(due(Date.UTC(2026, 3, 2))).toEqual(["2026-01", "2026-02"]);
    expect(lastDue(Date.UTC(2026, 3, 2), 3).name).toBe("2026-02");
    expect(lastDue(Date.UTC(2026, 3, 3), 3).name).toBe("2026-03");
    expect(lastDue(Date.UTC(2026, 3, 30), 28).name).toBe("2026-03");
  });
});
