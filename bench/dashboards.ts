import pino from "pino";
import { dashboards } from "../dashboards/files.ts";
import type { ClickHouseQuery, Panel, Variable } from "../dashboards/model.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../dashboards/options.ts";
import { periodOf } from "../domain/period.ts";
import { computeWindow } from "../processors/ledger/rollup/rollups.ts";
import { newRunId, publishRun } from "../processors/ledger/runs/runs.ts";
import { createSums } from "../reports/sums/sums.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { ALL, expandedSql, type Shown } from "../test/support/grafana/expand.ts";
import { chargeMonth } from "./charged-month.ts";
import { settled, START, withFleet } from "./ledger.ts";
import { asked, reportPanels } from "./turns.ts";
import { HOUR_MILLIS } from "../domain/time.ts";

const GPUS = 10_000;
const TEAMS = 200;
const DAYS = 7;
/** The selected values of variables with one value. */
const CHOSEN: Shown["chosen"] = {
  policy: "default",
  place: "pool",
  cluster: "test",
  namespace: "ml",
  workload: "job-7",
};

/** The time of the store for each panel of a week of a fleet. */
export async function benchDashboards(): Promise<void> {
  await withFleet(
    GPUS,
    async ({ store }) => {
      const month = periodOf(START);
      await chargeMonth(store, month);
      await repeatHour(store, month.until - DAYS * 24 * HOUR_MILLIS, month.until);
      const sums = createSums(store, { logger: pino({ level: "silent" }), now: () => month.until - 1 });
      await sums.prepare("all");
      await sums.made();
      await settled(store);
      const [stored] = await store.query<Readonly<Record<string, string>>>(
        "SELECT (SELECT count() FROM usage_hours) AS hours, (SELECT count() FROM gpu_5m) AS fives, (SELECT count() FROM charges) AS lines",
      );
      process.stdout.write(
        `  ${stored!["lines"]} lines of charges, ${stored!["hours"]} of usage, ${stored!["fives"]} of five minutes\n`,
      );
      const times = {
        fromMillis: month.until - DAYS * 24 * HOUR_MILLIS,
        untilMillis: month.until - 1000,
        stepSeconds: 900,
        scrapeSeconds: 30,
      };
      const medians: number[] = [];
      for (const { title, variables, sections } of dashboards(DEFAULT_DASHBOARD_OPTIONS)) {
        const chosen = { ...CHOSEN, ...Object.fromEntries(variables.flatMap(allOf)) };
        const questions = [
          ...variables.flatMap(({ name, query }) =>
            query.source === "clickhouse" ? [[`$${name}`, query.sql] as const] : [],
          ),
          ...sections.flatMap(({ panels }) => panels.flatMap(queriesOf)),
        ];
        for (const [what, sql] of questions) {
          const text = expandedSql(sql, { ...times, chosen });
          medians.push(await asked(`${title}: ${what}`, () => store.query(text)));
        }
      }
      reportPanels(medians);
    },
    TEAMS,
  );
}

function allOf({ name, isMulti }: Variable): readonly (readonly [string, string])[] {
  return isMulti ? [[name, ALL]] : [];
}

function queriesOf({ title, queries }: Panel): readonly (readonly [string, string])[] {
  const ofStore = queries.filter((query): query is ClickHouseQuery => query.source === "clickhouse");
  return ofStore.map(({ sql }) => [title, sql]);
}

/** Copies the metered hour to each hour of a time: its usage, and its rollups of 5 minutes. */
async function repeatHour(store: StoreClient, from: number, until: number): Promise<void> {
  const rolled = newRunId();
  const hour = { cluster: "test", windowStart: START, generation: 1, watermark: new Map<number, number>() };
  await computeWindow(store, { ...hour, runId: rolled, publishedAt: until });
  const [metered] = await store.query<{ readonly run: string }>("SELECT toString(any(run_id)) AS run FROM usage_hours");
  for (let windowStart = from; windowStart < until; windowStart += HOUR_MILLIS) {
    const seconds = (windowStart - START) / 1000;
    const run = { ...hour, windowStart, publishedAt: until };
    for (const { kind, table, of, times } of [
      { kind: "usage", table: "usage_hours", of: metered!.run, times: ["from_at", "until_at"] },
      { kind: "rollup", table: "gpu_5m", of: rolled, times: ["bucket", "first_at", "last_at"] },
    ] as const) {
      const runId = newRunId();
      const moved = times.map((name) => `${name} + toIntervalSecond({seconds:Int64}) AS ${name}`);
      await store.command(
        // The rows first: if a column has the name of another one, that name in a condition means the other one.
        `INSERT INTO ${table} SELECT * REPLACE (toUUID({runId:String}) AS run_id, ${moved.join(", ")})
         FROM (SELECT * FROM ${table} WHERE run_id = toUUID({of:String}))`,
        { runId, of, seconds },
      );
      await publishRun(store, kind, { ...run, runId }, { scrapes: 0, rows: 0, hash: "0" });
    }
  }
}
