import { multiply, ONE, rational, roundHalfEven, smaller, type Rational } from "../../domain/exact/rational.ts";
import { METRICS } from "../../domain/metric.ts";
import { sumOf } from "../../domain/share/scale.ts";
import { memoryMiBOf, vendorOf, xidAt } from "./machine.ts";
import type { Occupant } from "./occupants.ts";
import type { PlayedRow } from "./rows.ts";
import { isWithin, type ScenarioNode, type ScenarioPod } from "./tenure.ts";

const MEBIBYTE = 1024 * 1024;
const MILLION = rational(1_000_000);

/** The metrics of a played exporter, in the order of the catalog. */
const PLAYED = new Set([
  "gr_engine_active_ratio",
  "gpu_utilization_ratio",
  "fb_used_bytes",
  "fb_total_bytes",
  "process_utilization_ratio",
  "process_fb_used_bytes",
  "power_watts",
  "energy_joules",
  "xid_code",
]);

/** The columns of every played scrape. */
export const COLUMNS: readonly string[] = METRICS.map(({ name }) => name).filter((name) => PLAYED.has(name));

/**
 * Returns the values of rows that stay the same until something changes on the node, row by row. Values that the exporter does not have are NaN.
 * The scrape adds power and energy.
 */
export function valuesAt(node: ScenarioNode, rows: readonly PlayedRow[], at: number): Float64Array {
  const values = new Float64Array(rows.length * COLUMNS.length).fill(Number.NaN);
  rows.forEach((row, index) => {
    const given = valuesOfRow(node, row, at);
    COLUMNS.forEach((name, column) => {
      values[index * COLUMNS.length + column] = given[name] ?? Number.NaN;
    });
  });
  return values;
}

function valuesOfRow(
  node: ScenarioNode,
  { gpu, profile, isBlind, occupants, processesOf }: PlayedRow,
  at: number,
): Readonly<Record<string, number | undefined>> {
  const activity = isBlind ? undefined : activityOf(occupants, at);
  const known = occupants.filter(({ isCommon }) => !isCommon);
  const totalMiB = profile === "" ? memoryMiBOf(node) : memoryMiBOfProfile(profile);
  const mebibytes = (amount: number | undefined): number | undefined =>
    amount === undefined ? undefined : amount * MEBIBYTE;
  return {
    [vendorOf(node) === "amd" ? "gpu_utilization_ratio" : "gr_engine_active_ratio"]: activity,
    fb_used_bytes: mebibytes(memoryUsedOf(known)),
    fb_total_bytes: mebibytes(totalMiB),
    process_utilization_ratio: processesOf === undefined ? undefined : processActivityOf(processesOf, at),
    process_fb_used_bytes: mebibytes(processesOf?.pod.memoryUsedMiB),
    xid_code: xidAt(node, gpu, at),
  };
}

/** Returns the exporter's value for a device: the sum of its occupants, at most the whole device; undefined if no occupant is measured. */
function activityOf(occupants: readonly Occupant[], at: number): number | undefined {
  const isMeasured = occupants.some(({ pod }) => ratioAt(pod, at) !== undefined);
  if (occupants.length > 0 && !isMeasured) return undefined;
  return asRatio(sumOf(occupants.map((occupant) => ownActivityOf(occupant, at))));
}

function processActivityOf(occupant: Occupant, at: number): number | undefined {
  return ratioAt(occupant.pod, at) === undefined ? undefined : asRatio(ownActivityOf(occupant, at));
}

/** Returns a pod's activity as a part of the device. The written ratio is a ratio of its claim. */
function ownActivityOf({ pod, claimed }: Occupant, at: number): Rational {
  return multiply(rational(Math.round((ratioAt(pod, at) ?? 0) * 1e6), 1_000_000), claimed);
}

/** Returns at most 1, in whole parts per million. That is the ledger's unit, so reading the value does not round again. */
function asRatio(exact: Rational): number {
  return Number(roundHalfEven(multiply(smaller(exact, ONE), MILLION))) / 1e6;
}

function ratioAt({ activity }: ScenarioPod, at: number): number | undefined {
  if (activity === undefined || typeof activity === "number") return activity;
  return activity.find((span) => isWithin(span, at))?.ratio;
}

/** Returns the memory that all occupants of a device use; undefined if it has occupants and none has a value. */
function memoryUsedOf(occupants: readonly Occupant[]): number | undefined {
  const used = occupants.flatMap(({ pod }) => pod.memoryUsedMiB ?? []);
  return occupants.length > 0 && used.length === 0 ? undefined : used.reduce((sum, each) => sum + each, 0);
}

/** Returns the memory in a MIG profile's name: 5 GB of `1g.5gb`. */
function memoryMiBOfProfile(profile: string): number | undefined {
  const gigabytes = /\.(\d+)gb/.exec(profile)?.[1];
  return gigabytes === undefined ? undefined : Number(gigabytes) * 1024;
}
