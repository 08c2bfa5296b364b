import { hash } from "./fleet.ts";

/** Labels by name. */
export type Labels = Readonly<Record<string, string>>;

/** A series of the week: when it was there, all of the week where nothing is said, and its value at a second. */
export interface WeekSeries {
  readonly labels: Labels;
  readonly from?: number;
  readonly until?: number;
  /** Whether it is of what readers look at. */
  readonly isShown: boolean;
  readonly valueAt: (at: number) => number;
}

/** The series of a metric. */
export interface WeekFamily {
  readonly name: string;
  /** From one sample to the next. */
  readonly seconds: number;
  /** Whether panels read it over days whosever it is, and not only of what is looked at. */
  readonly isReadWhole: boolean;
  readonly series: () => Iterable<WeekSeries>;
}

/** The paces of scrapes and of the rules' groups, in seconds. */
export const QUICK = 30;
export const MINUTE = 60;
export const TWO_MINUTES = 120;
export const FOUR_MINUTES = 240;
export const HOUR = 3_600;
export const DAY = 86_400;

/** A value that stays. */
export const always =
  (value: number): WeekSeries["valueAt"] =>
  () =>
    value;

/** Values between two, that differ from sample to sample and from GPU to GPU. */
export const between =
  (least: number, most: number, number: number): WeekSeries["valueAt"] =>
  (at) =>
    Math.round((least + ((hash(number, at) % 1000) / 1000) * (most - least)) * 1000) / 1000;

/** A family of something, a series of each; read whole or of what is looked at alone. */
export function familyOf<Of>(
  { name, seconds, isReadWhole = false }: { name: string; seconds: number; isReadWhole?: boolean },
  all: readonly Of[],
  series: (each: Of) => Omit<WeekSeries, "isShown"> & { readonly isShown?: boolean },
): WeekFamily {
  return {
    name,
    seconds,
    isReadWhole,
    *series() {
      for (const each of all) yield { isShown: false, ...series(each) };
    },
  };
}
