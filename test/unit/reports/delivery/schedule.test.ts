import { describe, expect, it } from "vitest";
import { duePeriods, periodAt, type DeliverySchedule } from "../../../../reports/delivery/schedule.ts";
import { readSpan } from "../../../../reports/question/span.ts";
import { DAY_MILLIS } from "../../../../domain/time.ts";

const at = (text: string): number => Date.parse(text);
const berlin = (schedule: string, period: DeliverySchedule["period"] = "day"): DeliverySchedule => ({
  schedule,
  timeZone: "Europe/Berlin",
  period,
});
/** The periods that became due between two times, each as its period and moment. */
const dueIn = (of: DeliverySchedule, since: string, now: string): readonly string[] =>
  duePeriods(of)
    .owed(at(since), at(now))
    .map(({ span, due }) => `${span.name} at ${new Date(due).toISOString().slice(0, 16)}Z`);

describe("the due periods of a schedule", () => {
  it("are the last whole UTC day, week from Monday, or month before its moments", () => {
    expect(dueIn(berlin("0 6 3 * *", "month"), "2026-01-10T00:00Z", "2026-04-10T00:00Z")).toEqual([
      "2026-01 at 2026-02-03T05:00Z",
      "2026-02 at 2026-03-03T05:00Z",
      "2026-03 at 2026-04-03T04:00Z",
    ]);
    expect(dueIn(berlin("0 6 * * 2", "week"), "2026-03-01T00:00Z", "2026-03-12T00:00Z")).toEqual([
      "2026-02-23/2026-03-02 at 2026-03-03T05:00Z",
      "2026-03-02/2026-03-09 at 2026-03-10T05:00Z",
    ]);
    // At six in Tokyo the previous UTC day is still running.
    expect(
      dueIn({ schedule: "0 6 * * *", timeZone: "Asia/Tokyo", period: "day" }, "2026-03-01T00:00Z", "2026-03-02T22:00Z"),
    ).toEqual(["2026-02-28 at 2026-03-01T21:00Z", "2026-03-01 at 2026-03-02T21:00Z"]);
  });

  it("do not include those before it was first seen, and include all of an outage, at most the newest 92 days", () => {
    const daily = berlin("0 6 * * *");
    expect(dueIn(daily, "2026-03-10T05:00:00.001Z", "2026-03-10T23:59Z")).toEqual([]);
    expect(dueIn(daily, "2026-03-10T05:00Z", "2026-03-10T23:59Z")).toEqual(["2026-03-09 at 2026-03-10T05:00Z"]);
    expect(dueIn(daily, "2026-03-10T12:00Z", "2026-03-18T04:59:59Z")).toHaveLength(7);
    const year = duePeriods(daily).owed(at("2025-01-01T00:00Z"), at("2026-01-01T12:00Z"));
    expect(year).toHaveLength(92);
    expect(year.at(-1)!.span.name).toBe("2025-12-31");
  });

  it("appear once each, for any frequency of the schedule", () => {
    expect(dueIn(berlin("*/5 * * * *", "month"), "2026-02-10T00:00Z", "2026-04-10T00:00Z")).toEqual([
      "2026-02 at 2026-03-01T00:00Z",
      "2026-03 at 2026-04-01T00:00Z",
    ]);
  });

  it("are only those just before the moments if the schedule is less frequent than its periods", () => {
    expect(dueIn(berlin("0 6 * * MON", "day"), "2026-03-01T00:00Z", "2026-03-17T00:00Z")).toEqual([
      "2026-03-01 at 2026-03-02T05:00Z",
      "2026-03-08 at 2026-03-09T05:00Z",
      "2026-03-15 at 2026-03-16T05:00Z",
    ]);
  });

  it("are due after the gap if a clock goes forward over their time", () => {
    // 2026-03-29, 02:00 becomes 03:00 in Berlin, at 01:00 UTC.
    expect(dueIn(berlin("30 2 * * *"), "2026-03-28T00:00Z", "2026-03-30T23:00Z")).toEqual([
      "2026-03-27 at 2026-03-28T01:30Z",
      "2026-03-28 at 2026-03-29T01:30Z",
      "2026-03-29 at 2026-03-30T00:30Z",
    ]);
  });

  it("are due once if a clock shows their time twice", () => {
    // 2026-10-25, 03:00 becomes 02:00 in Berlin, at 01:00 UTC.
    expect(dueIn(berlin("30 2 * * *"), "2026-10-24T00:00Z", "2026-10-26T23:00Z")).toEqual([
      "2026-10-23 at 2026-10-24T00:30Z",
      "2026-10-24 at 2026-10-25T00:30Z",
      "2026-10-25 at 2026-10-26T01:30Z",
    ]);
    expect(dueIn(berlin("30 2 * * *"), "2026-10-25T00:45Z", "2026-10-25T23:00Z")).toEqual([]);
  });

  it.each([
    ["30 1 * * *", "day"],
    ["30 1 * * MON", "week"],
    ["30 1 1 * *", "month"],
    ["59 23 * * *", "day"],
  ] as const)("are complete over a year with any changes of the clock, for %s by the %s", (schedule, period) => {
    for (const timeZone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"]) {
      const due = duePeriods({ schedule, timeZone, period });
      const names = new Map<string, number>();
      let expected = periodAt(period, at("2026-01-20T00:00Z"));
      for (let now = at("2026-02-10T00:00Z"); now < at("2027-02-10T00:00Z"); now += 30 * DAY_MILLIS)
        for (const { span, due: moment } of due.owed(0, now)) {
          names.set(span.name, moment);
          expect(moment).toBeGreaterThanOrEqual(span.until);
        }
      for (; expected.until < at("2026-12-25T00:00Z"); expected = periodAt(period, expected.until))
        expect({ timeZone, name: expected.name, isDue: names.has(expected.name) }).toMatchObject({ isDue: true });
    }
  });

  it("have the names of spans", () => {
    for (const period of ["day", "week", "month"] as const) {
      const { name, from, until } = periodAt(period, at("2026-03-14T15:00Z"));
      expect(readSpan(name, 0)).toEqual({ span: { name, from, until } });
    }
  });

  it("include the next period with its moment", () => {
    const monthly = duePeriods(berlin("0 6 3 * *", "month"));
    const next = (now: string) => monthly.next(at(now));
    expect(next("2026-03-03T05:00Z")).toEqual({
      span: periodAt("month", at("2026-03-01")),
      due: at("2026-04-03T04:00Z"),
    });
    expect(next("2026-03-03T04:59:59Z")).toMatchObject({ due: at("2026-03-03T05:00Z") });
  });
});
