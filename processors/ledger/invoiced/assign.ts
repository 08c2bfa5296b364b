import { createHash } from "node:crypto";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import type { SourceRules } from "../../../domain/invoice/rules.ts";
import { DAY_MILLIS, dayOf } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun } from "../../../runtime/store/schema/runs.ts";
import { assignDay } from "./assign-day.ts";
import { readMachines } from "./read-nodes.ts";

const EXPORTS = `
SELECT toString(version) AS version, source, toFloat64(toUnixTimestamp64Milli(from_at)) AS from,
  toFloat64(toUnixTimestamp64Milli(until_at)) AS until, JSONExtractFloat(document, 'longestMillis') AS longestMillis
FROM invoice_exports_valid WHERE kept > 0 ORDER BY source, export`;

interface ExportRow {
  readonly version: string;
  readonly source: string;
  readonly from: number;
  readonly until: number;
  /** The length of the longest line of a machine. */
  readonly longestMillis: number;
}

const USAGE = `
SELECT toFloat64(toUnixTimestamp(toStartOfDay(start))) * 1000 AS day, toString(sum(cityHash64(cluster, start, run))) AS hash
FROM (
  SELECT cluster, window_start AS start, ${ofLastRun("run_id")} AS run FROM runs
  WHERE kind = 'usage' AND window_start >= fromUnixTimestamp64Milli({from:Int64}) GROUP BY cluster, start
)
GROUP BY day`;

const PUBLISHED_DAYS = `
SELECT DISTINCT toFloat64(toUnixTimestamp(toStartOfDay(window_start))) * 1000 AS day FROM runs WHERE kind = 'invoice'`;

/** Divides the costs of exports over hours, day by day, where exports or usage have changed. */
export interface Assigner {
  /** Returns the hours whose costs have changed. Fails with a `StoreError`. */
  assign(turn: { readonly generation: number; readonly now: number }): Promise<readonly WindowOfCluster[]>;
}

/** Creates an assigner. It remembers the days that it has divided; a new one divides all of them again, to the same result. */
export function createAssigner(store: StoreClient, rules: readonly SourceRules[]): Assigner {
  const done = new Map<number, string>();
  return {
    async assign(turn) {
      const exports = await store.query<ExportRow>(EXPORTS);
      const days = await daysOf(store, exports);
      if (days.length === 0) return [];
      const machines = await readMachines(store);
      const changed: WindowOfCluster[] = [];
      for (const [day, hash] of await hashesOf(store, days, exports, [rules, [...machines]])) {
        if (done.get(day) === hash) continue;
        changed.push(...(await assignDay(store, day, { rules, machines }, turn)));
        done.set(day, hash);
      }
      return changed;
    },
  };
}

/** Returns the days of exports, and those with published hours, in order. */
async function daysOf(store: StoreClient, exports: readonly ExportRow[]): Promise<readonly number[]> {
  const published = await store.query<{ day: number }>(PUBLISHED_DAYS);
  const days = new Set(published.map(({ day }) => day));
  for (const { from, until } of exports) for (let day = dayOf(from); day < until; day += DAY_MILLIS) days.add(day);
  return [...days].toSorted((a, b) => a - b);
}

/** Returns a hash of what the costs of each day follow from. `common` is the same for all days. */
async function hashesOf(
  store: StoreClient,
  days: readonly number[],
  exports: readonly ExportRow[],
  common: unknown,
): Promise<readonly (readonly [day: number, hash: string])[]> {
  const longest = exports.reduce((most, { longestMillis }) => Math.max(most, longestMillis), DAY_MILLIS);
  const usage = await store.query<{ day: number; hash: string }>(USAGE, { from: days[0]! - longest });
  return days.map((day) => {
    // A line that begins or ends on the day is of machines that exist on the days of the whole line.
    const touched = usage.filter((of) => Math.abs(of.day - day) <= longest);
    const made = exports.filter(({ from, until }) => from < day + DAY_MILLIS && until > day);
    const text = JSON.stringify([common, made.map(({ version }) => version), touched]);
    return [day, createHash("sha256").update(text).digest("base64url")] as const;
  });
}
