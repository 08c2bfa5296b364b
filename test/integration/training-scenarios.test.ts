import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_METRICS } from "../../domain/training/metrics.ts";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import type { PhaseAmounts } from "../../domain/training/report.ts";
import { signalText } from "../../domain/training/signals.ts";
import { readIncidents } from "../../reports/training/read-incidents.ts";
import { readRuns } from "../../reports/training/read-runs.ts";
import { readRunReports, runRulesOf, type ChargedRun } from "../../reports/training/read-reports.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { slicesOf } from "../../runtime/in-turns.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { createTestDatabase } from "../support/database.ts";
import { MESSAGES_PER_INSERT } from "../support/play.ts";
import { playScenario, type Played } from "../support/play-ledger.ts";
import { withChanges, type FactChange } from "../support/training/play.ts";

const FOLDER = "test/scenarios/training";

/** The expected report of a run, with the cost of each phase. */
interface ExpectedRun {
  readonly name: string;
  /** The workloads of the run; that of its name by default. */
  readonly workloads?: readonly string[];
  readonly outcome: string;
  readonly total: string;
  readonly phases: Readonly<Record<string, string>>;
  readonly stops?: readonly {
    readonly at: string;
    readonly cause: string;
    readonly phases: Readonly<Record<string, string>>;
  }[];
}

/** The second document of a file: changes of facts, the configuration of training runs, and the expected runs. */
interface Expected {
  readonly training?: object;
  readonly changes?: readonly (Omit<FactChange, "at"> & { readonly at: string })[];
  readonly runs: readonly ExpectedRun[];
  /** All incidents, if they are given. */
  readonly incidents?: readonly {
    readonly at: string;
    readonly node: string;
    readonly text: string;
    readonly total: string;
    readonly parts: Readonly<Record<string, string>>;
  }[];
}

const files = readdirSync(FOLDER).map((file) => {
  const [fleet, expected] = readFileSync(`${FOLDER}/${file}`, "utf8").split(/^---$/m) as [string, string];
  return { file, scenario: readScenario(fleet, file), expected: parse(expected) as Expected };
});

/** Times in a change are texts, and milliseconds in a fact. */
function changeOf({ at, ...change }: Omit<FactChange, "at"> & { readonly at: string }): FactChange {
  const millis = JSON.stringify(change).replaceAll(/"(\d{4}-\d{2}-\d{2}T[\d:.]+Z)"/g, (_, time: string) =>
    String(Date.parse(time)),
  );
  return { ...(JSON.parse(millis) as object), at: Date.parse(at) } as FactChange;
}

const costs = (phases: PhaseAmounts): Readonly<Record<string, string>> =>
  Object.fromEntries([...phases].map(([phase, { effective }]) => [phase, formatAmount(effective)]));
const amounts = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, formatAmount(amountOf(text))]));

let store: StoreClient;

beforeAll(async () => {
  store = await createTestDatabase("training_scenarios");
});
afterAll(() => store.close());

describe.each(files)("the training runs of $file", ({ file, scenario: written, expected }) => {
  /** Each scenario is in a cluster of its own, so that all share a database. */
  const cluster = file;
  const scenario = { ...written, nodes: written.nodes.map((node) => ({ ...node, cluster })) };
  let played: Played;
  const config = parseConfig(JSON.stringify({ training: expected.training ?? {} }), {
    source: file,
    folder: ".",
    env: {},
  });

  const read = new Map<string, Promise<readonly ChargedRun[]>>();
  const reports = (policy: string): Promise<readonly ChargedRun[]> => {
    const found = read.get(policy) ?? readReports(policy);
    read.set(policy, found);
    return found;
  };
  const readReports = async (policy: string): Promise<readonly ChargedRun[]> => {
    const { start, end } = scenario.period;
    const { training } = config;
    const runs = await readRuns(store, runRulesOf(training), { from: start, until: end });
    const own = runs.filter((run) => run.cluster === cluster);
    return readRunReports(store, own, { policy, where: [], training, metrics: NO_METRICS, now: end });
  };

  beforeAll(async () => {
    played = await playScenario(store, scenario, {
      deliver: (messages) => {
        const changed = withChanges(messages, (expected.changes ?? []).map(changeOf), cluster);
        return { first: slicesOf(changed, MESSAGES_PER_INSERT), late: [] };
      },
    });
  });
  it.each(policiesOf(scenario))("have the written phases under the policy %s", async (policy) => {
    const found = (await reports(policy)).map(({ run, outcome, total, phases, stops }) => ({
      name: run.name,
      outcome,
      total: formatAmount(total.effective),
      phases: costs(phases),
      stops: stops.map(({ stop, phases: ofStop }) => ({
        at: new Date(stop.at).toISOString(),
        cause: stop.cause,
        phases: costs(ofStop),
      })),
    }));
    expect(found).toEqual(
      expected.runs.map(({ name, outcome, total, phases, stops = [] }) => ({
        name,
        outcome,
        total: formatAmount(amountOf(total)),
        phases: amounts(phases),
        stops: stops.map((stop) => ({
          at: new Date(stop.at).toISOString(),
          cause: stop.cause,
          phases: amounts(stop.phases),
        })),
      })),
    );
  });

  const withIncidents = expected.incidents === undefined ? [] : [{ all: expected.incidents }];
  it.each(withIncidents)("have the written incidents", async ({ all }) => {
    const { start: from, end: until } = scenario.period;
    const question = {
      policy: policiesOf(scenario)[0]!,
      where: [],
      training: config.training,
      metrics: NO_METRICS,
      now: until,
    };
    const incidents = await readIncidents(store, { from, until }, question);
    const found = incidents
      .filter((incident) => incident.cluster === cluster)
      .map(({ at, node, main, total, parts }) => ({
        at: new Date(at).toISOString(),
        node,
        text: signalText(main),
        total: formatAmount(total.effective),
        parts: Object.fromEntries(
          Object.entries(parts).flatMap(([part, { effective }]) =>
            effective === 0n ? [] : [[part, formatAmount(effective)]],
          ),
        ) as object,
      }));
    expect(found).toEqual(
      all.map(({ at, total, parts, ...incident }) => ({
        ...incident,
        at: new Date(at).toISOString(),
        total: formatAmount(amountOf(total)),
        parts: amounts(parts),
      })),
    );
  });

  it.each(policiesOf(scenario))("sum exactly to the lines of their pods under the policy %s", async (policy) => {
    const names = new Set(expected.runs.flatMap(({ name, workloads = [name] }) => workloads));
    const lines = played.bills.get(policy)!.lines.filter(({ dimensions }) => names.has(dimensions["workload"] ?? ""));
    const all = await reports(policy);
    const phases = all.flatMap((run) => [...run.phases.values()]);
    expect(sum(phases.map(({ effective }) => effective))).toBe(sum(lines.flatMap(({ cost }) => cost ?? [])));
    expect(sum(phases.map(({ gpuHours }) => gpuHours))).toBe(sum(lines.map(({ gpuHours }) => gpuHours)));
    expect(phases.length).toBeGreaterThan(0);
  });
});

function policiesOf({ policies }: Scenario): readonly string[] {
  return policies.length === 0 ? ["default"] : policies.map(({ name }) => name);
}
