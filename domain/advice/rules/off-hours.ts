import { DAY_MILLIS, HOURS_OF_DAY, HOUR_MILLIS } from "../../time.ts";
import { doubtsOf } from "../doubts.ts";
import { coverageOf, isActive, isIdle, type HourEvidence } from "../evidence.ts";
import { stopRemedy } from "../remedies.ts";
import { percent, subjectOf, whereOf, type WorkloadRule } from "../rule.ts";
import { HOURS_OF_WEEK, weekHourOf, weekHoursText } from "../week-hours.ts";

const WEEKDAYS = 5;
/** The shortest night that is worth a stop and a start, in hours. */
const SHORTEST_NIGHT = 6;
/** The hours before work in which the workload starts again. */
const WARM_UP = 1;
/** The part of the hours outside of the idle ones in which the workload must work. Else its rests are chance. */
const LEAST_WORK = 0.5;

/** Finds notebooks and services that rest each night, or for the whole weekend. The evidence must have each weekday and a weekend. */
export const offHours: WorkloadRule = (workload, context) => {
  const { hours, type, firstAt, lastAt } = workload;
  const { window, coverage } = context;
  if (type !== "notebook" && type !== "inference") return [];
  if (lastAt < window.until || firstAt > window.from || window.until - window.from < HOURS_OF_WEEK * HOUR_MILLIS)
    return [];
  const byWeekHour = Array.from({ length: HOURS_OF_WEEK }, (): HourEvidence[] => []);
  hours.forEach((hour, index) => byWeekHour[weekHourOf(window.from + index * HOUR_MILLIS)]!.push(hour));
  const rests = byWeekHour.map((each) => each.every(isIdle));
  const restsAt = (day: number, hour: number): boolean => rests[day * HOURS_OF_DAY + hour]!;
  const night = longestNight((hour) => days(0, WEEKDAYS).every((day) => restsAt(day, hour)));
  const isFreeWeekend = days(WEEKDAYS, 7).every((day) => dayHours().every((hour) => restsAt(day, hour)));
  const stopped = new Set([
    ...days(0, WEEKDAYS).flatMap((day) => night.map((hour) => day * HOURS_OF_DAY + hour)),
    ...(isFreeWeekend ? days(WEEKDAYS, 7).flatMap((day) => dayHours().map((hour) => day * HOURS_OF_DAY + hour)) : []),
  ]);
  if (stopped.size === 0) return [];
  if (coverageOf([...stopped].flatMap((hour) => byWeekHour[hour]!)) < coverage) return "coverage";
  const weekdays = days(0, WEEKDAYS).flatMap((day) => dayHours().map((hour) => day * HOURS_OF_DAY + hour));
  const others = weekdays.filter((hour) => !stopped.has(hour)).flatMap((hour) => byWeekHour[hour]!);
  const worked = others.filter(isActive).length / Math.max(1, others.length);
  if (worked < LEAST_WORK) return [];
  const text = weekHoursText(stopped);
  return [
    {
      kind: "off-hours",
      subject: subjectOf(workload),
      from: window.from,
      changes: [{ release: { ...whereOf(workload), hours: text } }],
      figures: [
        { name: "Idle in each week", value: `${text} UTC` },
        { name: "Idle hours of a week", value: `${stopped.size} of ${HOURS_OF_WEEK}` },
        { name: "Works in", value: `${percent(worked)} of the other hours of weekdays` },
        { name: "Seen for", value: `${Math.round((window.until - window.from) / DAY_MILLIS)} days` },
      ],
      remedy: {
        what: `Stop the workload ${text} (UTC), with a schedule such as a CronJob or KEDA's cron scaler.`,
        lines: stopRemedy(workload, "").lines,
      },
      risks: [
        `A request in these hours finds nothing. Starting again takes the time of the model's load; ${WARM_UP} h before work is left for it.`,
      ],
      doubts: doubtsOf(workload, context),
    },
  ];
};

/** Returns the hours of the longest idle stretch of a day, over midnight too, without its last hour; empty if it is too short. */
function longestNight(rests: (hour: number) => boolean): readonly number[] {
  const lengths = dayHours().map((from) => {
    const length = dayHours().findIndex((offset) => !rests((from + offset) % HOURS_OF_DAY));
    return length < 0 ? 0 : length;
  });
  const longest = Math.max(...lengths);
  if (longest < SHORTEST_NIGHT) return [];
  const from = lengths.indexOf(longest);
  return Array.from({ length: longest - WARM_UP }, (_, offset) => (from + offset) % HOURS_OF_DAY);
}

function days(from: number, until: number): readonly number[] {
  return Array.from({ length: until - from }, (_, index) => from + index);
}

function dayHours(): readonly number[] {
  return days(0, HOURS_OF_DAY);
}
