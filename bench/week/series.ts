import { hash } from "./fleet.ts";

/** Labels by name. */
export type Labels = Readonly<Record<string, string>>;

/** A series of the week: its time (default: the whole week), and its value at a second. */
export interface WeekSeries {
  readonly labels: Labels;
  readonly from?: number;
  readonly until?: number;
  /** True if its subject is selected. */
  readonly isShown: boolean;
  readonly valueAt: (at: number) => number;
}

/** The series of a metric. */
export interface WeekFamily {
  readonly name: string;
  /** The seconds from one sample to the next. */
  readonly seconds: number;
  /** True if panels read it over days for all subjects, and not only for the selected ones. */
  readonly isReadWhole: boolean;
  readonly series: () => Iterable<WeekSeries>;
}

/** The intervals of scrapes and of the rules' groups, in seconds. */
export const QUICK = 30;
export const MINUTE = 60;
export const TWO_MINUTES = 120;
export const FOUR_MINUTES = 240;
export const HOUR = 3_600;
export const DAY = 86_400;

/** Returns a constant value. */
export const always =
  (value: number): WeekSeries["valueAt"] =>
  () =>
    value;

/** Returns values between two bounds that differ from sample to sample and from GPU to GPU. */
export const between =
  (least: number, most: number, number: number): WeekSeries["valueAt"] =>
  (at) =>
    Math.round((least + ((hash(number, at) % 1000) / 1000) * (most - least)) * 1000) / 1000;

/** Returns a family with a series for each subject. Panels read all of them, or only the selected ones. */
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
