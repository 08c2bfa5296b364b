import { CATALOG } from "../alerts/catalog/catalog.ts";
import type { AlertOptions } from "../alerts/options.ts";
import type { Color, Thresholds } from "./model.ts";

/** The activity of GPUs as a part of all or held ones. */
export const UTILIZATION: Thresholds = [
  { color: "red" },
  { color: "yellow", from: 0.3 },
  { color: "green", from: 0.6 },
];
/** The activity of tensor cores: efficient training is above a quarter. */
export const TENSOR: Thresholds = [{ color: "text" }, { color: "green", from: 0.25 }];
/** The time for which a pod waits, in seconds: an hour, a day. */
export const WAIT: Thresholds = [{ color: "green" }, { color: "yellow", from: 3600 }, { color: "red", from: 86_400 }];

/** Returns thresholds of a value that is good up to a number. */
export function goodBelow(from: number, color: Color = "orange"): Thresholds {
  return [{ color: "green" }, { color, from }];
}

/** Returns a number of an alert, as the rules of the same configuration have it. */
export function numberOf({ alerts }: AlertOptions, alert: string, parameter: string): number {
  const { parameters = {} } = CATALOG.find(({ name }) => name === alert)!;
  return alerts[alert]?.parameters[parameter] ?? parameters[parameter]!.value;
}
