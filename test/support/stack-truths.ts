import { expect } from "vitest";
import type { CollectorStatus, DemoStatus, ProcessorStatus } from "../../services/role.ts";
import { PROGRAMS, type ProgramName, type Stack } from "./stack.ts";

/** The status of a program of the stack, requested with the administrator's token. */
export async function statusOf(stack: Stack, name: ProgramName): Promise<Status> {
  const headers = { authorization: `Bearer ${stack.secret("admin-token")}` };
  const answer = await fetch(`${stack.program(name).url}/api/status`, { headers });
  return (await answer.json()) as Status;
}

interface Status {
  readonly demo: DemoStatus;
  readonly collector: CollectorStatus;
  readonly processor: ProcessorStatus;
}

/**
 * Expects that no program of the stack has ended by itself. A failure shows the exit code, the end of the log, and the number of the store's
 * restarts.
 */
export function expectProgramsToRun(stack: Stack): void {
  const ended = PROGRAMS.flatMap((name) => {
    const { child, log } = stack.program(name).command;
    const { exitCode, signalCode } = child;
    const isRunning = exitCode === null && signalCode === null;
    const context = { log: log().split("\n").slice(-30), storeRestarts: stack.embedded.restarts };
    return isRunning ? [] : [{ name, exitCode, signalCode, ...context }];
  });
  expect(ended).toEqual([]);
}

/** Younger scrapes may still be in transit. */
const UNDER_WAY_MILLIS = 45_000;
const IN_SPAN =
  "scraped_at >= fromUnixTimestamp64Milli({since:Int64}) AND scraped_at < fromUnixTimestamp64Milli({until:Int64})";

/** The number of hours of the demo's past that are charged. */
export async function chargedHours({ store }: Stack): Promise<number> {
  const [row] = await store.query<{ hours: number }>(
    "SELECT toUInt32(uniqExact(window_start)) AS hours FROM charge_runs WHERE cluster = 'demo'",
  );
  return row!.hours;
}

/**
 * Expects that every scrape since a time is stored once, with consecutive sequence numbers and a row for each device of its page, that no message was
 * dropped, and that there are only the expected dead letters. `otherTargets` is the number of scraped GPU targets that are not the demo's. Scrapes that
 * senders push have no consecutive numbers; those of the node `pushed` are left out. Requires that the collector was never killed.
 */
export async function expectNothingLost(
  stack: Stack,
  sinceMillis: number,
  deadLetters: number,
  otherTargets = 0,
  pushed = "",
): Promise<void> {
  const { collector } = await statusOf(stack, "collect");
  expect(collector.spool.dropped).toBe(0);
  const { demo } = await statusOf(stack, "demo");
  const span = { since: sinceMillis, until: Date.now() - UNDER_WAY_MILLIS, pushed };
  const attemptsIn = async (table: "scrapes" | "serving_scrapes"): Promise<unknown> => {
    const [attempts] = await stack.store.query(
      `SELECT toUInt32(uniqExact(target)) AS targets, toUInt32(sum(last - first + 1 - distinct)) AS missing,
         toUInt32(sum(rows - distinct)) AS twice
       FROM (
         SELECT target, min(sequence) AS first, max(sequence) AS last, uniqExact(sequence) AS distinct, count() AS rows
         FROM ${table} FINAL WHERE ${IN_SPAN} AND node != {pushed:String} GROUP BY target, epoch
       )`,
      span,
    );
    return attempts;
  };
  const targets = demo.targets.length + otherTargets;
  expect(await attemptsIn("scrapes")).toEqual({ targets, missing: 0, twice: 0 });
  expect(await attemptsIn("serving_scrapes")).toMatchObject({ missing: 0, twice: 0 });
  const devices = await stack.store.query(
    `SELECT node, scraped_at, devices, rows
     FROM (SELECT node, scraped_at, sum(devices) AS devices FROM scrapes FINAL GROUP BY node, scraped_at) AS scraped
     FULL JOIN (SELECT node, scraped_at, count() AS rows FROM gpu_samples FINAL GROUP BY node, scraped_at) AS stored
       USING (node, scraped_at)
     WHERE ${IN_SPAN} AND devices != rows`,
    span,
  );
  expect(devices).toEqual([]);
  const listed = await stack.run(["dead-letter", "list", "--format", "json"]);
  expect(listed.stderr).toBe("");
  expect(JSON.parse(listed.stdout)).toHaveLength(deadLetters);
}

/** The oldest charged hours, which no late sample changes any more. */
const REPORTED_HOURS = 4;

/**
 * Expects that every hour has the same cost and time under every policy, that no sum is broken, and that a report's total is the sum of its lines.
 */
export async function expectChargesToAddUp(stack: Stack): Promise<void> {
  expect(await stack.store.query("SELECT * FROM breaches")).toEqual([]);
  const hours = await stack.store.query(
    `SELECT hour, groupArray((policy, cost, time)) AS of_policies
     FROM (
       SELECT toStartOfHour(from_at) AS hour, policy, sum(effective_cost) AS cost, sum(gpu_hours) AS time
       FROM charges_published GROUP BY hour, policy
     )
     GROUP BY hour HAVING count() != 3 OR uniqExact(cost) != 1 OR uniqExact(time) != 1`,
  );
  expect(hours).toEqual([]);
  const [span] = await stack.store.query<{ from: string; until: string }>(
    `SELECT formatDateTime(min(from_at) AS since, '%FT%TZ') AS from, formatDateTime(since + INTERVAL {hours:UInt8} HOUR, '%FT%TZ') AS until
     FROM charges_published`,
    { hours: REPORTED_HOURS },
  );
  const [summed] = await stack.store.query<{ cost: string }>(
    `SELECT toString(sum(effective_cost)) AS cost FROM charges_published
     WHERE policy = 'showback' AND from_at >= parseDateTimeBestEffort({from:String}) AND from_at < parseDateTimeBestEffort({until:String})`,
    span,
  );
  const name = `${span!.from}/${span!.until}`;
  const { stdout } = await stack.run(["report", name, "--format", "json"]);
  const [report] = (
    JSON.parse(stdout) as { readonly reports: readonly { readonly total: { readonly cost: string } }[] }
  ).reports;
  expect([name, report!.total.cost]).toEqual([name, summed!.cost]);
  expect(Number(summed!.cost)).toBeGreaterThan(0);
}

/** Expects that Prometheus reaches all of our parts, evaluates every rule, and has an inventory of every node of the cluster that has GPUs. */
export async function expectMetricsToBeRight(stack: Stack): Promise<void> {
  const { prometheus } = stack;
  const up = await prometheus.query('sum by (job) (up{job!="demo-dcgm-exporter"})');
  expect(Object.fromEntries(up.map(({ metric, values }) => [metric["job"], Number(values[0]![1])]))).toEqual({
    "demo-kube-state-metrics": 1,
    "gpu-ledger": ["collect", "process", "process-2", "serve"].length,
    "gpu-ledger-gpus": ["process", "process-2"].length,
  });
  const answer = (await (await fetch(`${prometheus.url}/api/v1/rules`)).json()) as RulesAnswer;
  const rules = answer.data.groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(100);
  expect(rules.filter(({ health }) => health === "err")).toEqual([]);
  const [known] = await prometheus.query("count(gpu_node_inventory_gpus)");
  const [offered] = await prometheus.query(
    'count(count by (node) (kube_node_status_capacity{resource=~"nvidia_com_gpu|nvidia_com_mig_.*|amd_com_gpu"}))',
  );
  expect(known!.values[0]![1]).toBe(offered!.values[0]![1]);
  const [total] = await prometheus.query("sum(max by (team) (gpu_ledger_team_month_cost))");
  expect(Number(total!.values[0]![1])).toBeGreaterThan(0);
}

interface RulesAnswer {
  readonly data: {
    readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
  };
}
