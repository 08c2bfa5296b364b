import { describe, expect, it } from "vitest";
import { createMonth, monthToDate } from "../../../../../processors/ledger/charging/month.ts";
import { HOUR_MILLIS as HOUR } from "../../../../../domain/time.ts";

const MARCH = Date.UTC(2026, 2, 1);
const unit = (amount: number): bigint => BigInt(amount) * 1_000_000_000n;
const hour = (start: number, team: string, cost: number) => ({
  start,
  teams: [{ team, cost: unit(cost), gpuHours: unit(1), unpriced: 0n }],
});

describe("the month to date", () => {
  it("adds up hours by team, the highest cost first", () => {
    const month = monthToDate(
      [hour(MARCH, "nlp", 2), hour(MARCH + HOUR, "vision", 3), hour(MARCH + HOUR, "nlp", 4)],
      MARCH + 2 * HOUR,
    );
    expect(month.month).toBe("2026-03");
    expect(month.teams.map(({ team, cost, gpuHours }) => [team, cost, gpuHours])).toEqual([
      ["nlp", "6", "2"],
      ["vision", "3", "1"],
    ]);
    expect(month.total).toMatchObject({ cost: "9", gpuHours: "3" });
  });

  it("is projected at the rate of the last 24 hours", () => {
    // 48 hours at 1 an hour, then 24 at 2: 96 so far. 31 days have 744 hours; 672 are left, at 2 an hour: 96 + 1,344.
    const hours = Array.from({ length: 72 }, (_, n) => hour(MARCH + n * HOUR, "nlp", n < 48 ? 1 : 2));
    const { total } = monthToDate(hours, MARCH + 72 * HOUR);
    expect(total).toMatchObject({ cost: "96", perHour: "2", forecast: "1440" });
  });

  it("counts the part of the running hour that has passed", () => {
    // Half an hour at 1: 2 an hour.
    const { total } = monthToDate([hour(MARCH, "nlp", 1)], MARCH + HOUR / 2);
    expect(total).toMatchObject({ cost: "1", perHour: "2" });
  });

  it("is projected from the time of the last charge of the running hour, which may be some time ago", async () => {
    // At 13:40 the hour is charged until 13:20: 2 in 80 minutes are 1.5 an hour.
    const start = MARCH + 12 * HOUR;
    const at = (minutes: number) => start + minutes * 60_000;
    const runs = [
      { cluster: "a", start, run: "first", chargedAt: at(70) },
      { cluster: "a", start: start + HOUR, run: "second", chargedAt: at(80) },
    ];
    const sums = runs.map(({ run }) => ({ run, team: "nlp", cost: "1", hours: "1", unpriced: "0" }));
    const query = <Row>(sql: string): Promise<readonly Row[]> =>
      Promise.resolve((sql.includes("FROM runs") ? runs : sums) as readonly unknown[] as readonly Row[]);
    const { total } = await createMonth({ query }, "default").refresh(at(100));
    expect(total).toMatchObject({ cost: "2", perHour: "1.5" });
    // A new hour has no charges yet: 2 in two hours.
    expect(await createMonth({ query }, "default").refresh(at(120))).toMatchObject({ total: { perHour: "1" } });
  });

  it("is cached until the month ends, and a failed read is repeated", async () => {
    const runs = [{ cluster: "a", start: MARCH, run: "first", chargedAt: MARCH + HOUR }];
    let failures = 1;
    let questions = 0;
    const query = <Row>(sql: string): Promise<readonly Row[]> => {
      questions += 1;
      if (!sql.includes("FROM runs") && failures-- > 0) return Promise.reject(new Error("away"));
      const sums = [{ run: "first", team: "nlp", cost: "2", hours: "1", unpriced: "0" }];
      return Promise.resolve((sql.includes("FROM runs") ? runs : sums) as readonly unknown[] as readonly Row[]);
    };
    const month = createMonth({ query }, "default");
    expect(month.known(MARCH + HOUR)).toBeUndefined();
    await expect(month.refresh(MARCH + HOUR)).rejects.toThrow("away");
    expect(month.known(MARCH + HOUR)).toBeUndefined();
    expect(await month.refresh(MARCH + HOUR)).toMatchObject({ total: { cost: "2", perHour: "2" } });
    expect([questions, month.known(MARCH + 2 * HOUR)]).toMatchObject([4, { total: { cost: "2", perHour: "1" } }]);
    expect(month.known(MARCH + 31 * 24 * HOUR)).toBeUndefined();
  });

  it("is empty before the first charge", () => {
    expect(monthToDate([], MARCH + HOUR)).toMatchObject({
      teams: [],
      total: { cost: "0", perHour: "0", forecast: "0" },
    });
  });
});
