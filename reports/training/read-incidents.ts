import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import { incidentsOf, type AffectedRun, type Incident } from "../../domain/training/incident.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { FACT_ORDER } from "../../runtime/store/schema/facts.ts";
import { momentSql } from "../question/question.ts";
import { readRunReports, runRulesOf, type TrainingQuestion } from "./read-reports.ts";
import { readRuns, type TimeSpan } from "./read-runs.ts";
import { readFaults } from "./read-signals.ts";

type Store = Pick<StoreClient, "query">;

/** An incident with the machine of its node. */
export interface NodeIncident extends Incident {
  /** The GPU model and the driver of the node; empty if they are unknown. */
  readonly model: string;
  readonly driver: string;
  /** What DCGM recommends for a GPU of the node around the incident; undefined if its exporter does not show it, or if it is nothing. */
  readonly recovery: RecoveryAction | undefined;
}

/** The groups of incidents with a mean time between them: each with its title, its field in JSON, and the value of an incident. */
export const INCIDENT_GROUPS: readonly {
  readonly title: string;
  readonly field: string;
  readonly keyOf: (incident: NodeIncident) => string;
}[] = [
  { title: "node", field: "byNode", keyOf: ({ cluster, node }) => `${cluster}/${node}` },
  { title: "GPU model", field: "byModel", keyOf: ({ model }) => model },
  { title: "driver", field: "byDriver", keyOf: ({ driver }) => driver },
];

/** DCGM's recovery actions (field 1523; the values are those of NVML's `nvmlDeviceGpuRecoveryAction_t`), from 1 on. */
const RECOVERY_ACTIONS = [
  "reset the GPU",
  "reboot the node",
  "drain peer-to-peer traffic",
  "drain and reset the GPU",
] as const;

/** See {@link NodeIncident}. */
export type RecoveryAction = (typeof RECOVERY_ACTIONS)[number];

/**
 * Reads the incidents that began in a span, with their cost until its end: faults of nodes, and stops of training runs. A viewer of some
 * teams (`where` is not empty) sees the incidents that stopped a run of these teams, with the teams' own charges. Fails with a
 * `StoreError`.
 */
export async function readIncidents(
  store: Store,
  { from, until }: TimeSpan,
  question: TrainingQuestion,
): Promise<readonly NodeIncident[]> {
  const runs = await readRuns(store, runRulesOf(question.training), { from, until });
  const hours = Array.from({ length: (until - from) / HOUR_MILLIS }, (_, hour) => from + hour * HOUR_MILLIS);
  const [reports, faults] = await Promise.all([
    readRunReports(store, runs, question),
    readFaults(store, { clusters: "all", nodes: "all", hours }, question),
  ]);
  const affected = reports.flatMap((report) => report.stops.map((cost): AffectedRun => ({ report, cost })));
  const within = affected.filter(({ cost: { stop } }) => isWithin(stop.fault?.at ?? stop.at, { from, until }));
  const incidents = incidentsOf(faults.signals, within, faults.blocked);
  const seen = question.where.length === 0 ? incidents : incidents.filter((incident) => incident.affected.length > 0);
  return withMachines(store, seen);
}

function isWithin(at: number, { from, until }: TimeSpan): boolean {
  return from <= at && at < until;
}

/** SQL for the machines of nodes, by their newest facts. */
const MACHINES = `
SELECT cluster, node, argMax(model, (${FACT_ORDER})) AS model,
  JSONExtractString(argMax(fact, (${FACT_ORDER})), 'driverVersion') AS driver
FROM inventory_facts WHERE cluster IN {clusters:Array(String)} AND node IN {nodes:Array(String)}
GROUP BY cluster, node`;

/** SQL for the highest recovery action of a node in each hour in which incidents began. */
const ACTIONS = `
SELECT cluster, node, toFloat64(toUnixTimestamp(toStartOfHour(scraped_at, 'UTC'))) * 1000 AS hour,
  max(other['DCGM_FI_DEV_GPU_RECOVERY_ACTION']) AS action
FROM gpu_samples
WHERE cluster IN {clusters:Array(String)} AND node IN {nodes:Array(String)} AND scraped_at >= ${momentSql("from")}
  AND scraped_at < ${momentSql("until")} AND toStartOfHour(scraped_at, 'UTC') IN {hours:Array(DateTime('UTC'))}
GROUP BY cluster, node, hour
HAVING action > 0`;

type OfNode = Pick<Incident, "cluster" | "node">;

async function withMachines(store: Store, incidents: readonly Incident[]): Promise<readonly NodeIncident[]> {
  if (incidents.length === 0) return [];
  // DCGM can show its action after the incident, in the next hour.
  const hours = [...new Set(incidents.flatMap(({ at }) => [hourOf(at), hourOf(at) + HOUR_MILLIS]))];
  const asked = {
    clusters: [...new Set(incidents.map(({ cluster }) => cluster))],
    nodes: [...new Set(incidents.map(({ node }) => node))],
    hours: hours.map((hour) => hour / 1000),
    from: Math.min(...hours),
    until: Math.max(...hours) + HOUR_MILLIS,
  };
  const [machines, actions] = await Promise.all([
    store.query<OfNode & { model: string; driver: string }>(MACHINES, asked),
    store.query<OfNode & { hour: number; action: number }>(ACTIONS, asked),
  ]);
  const keyOf = ({ cluster, node }: OfNode): string => JSON.stringify([cluster, node]);
  const byNode = new Map(machines.map((machine) => [keyOf(machine), machine]));
  return incidents.map((incident) => {
    const { model = "", driver = "" } = byNode.get(keyOf(incident)) ?? {};
    const hour = hourOf(incident.at);
    const near = actions.filter(
      (action) => keyOf(action) === keyOf(incident) && action.hour >= hour && action.hour <= hour + HOUR_MILLIS,
    );
    const most = Math.max(0, ...near.map(({ action }) => action));
    return { ...incident, model, driver, recovery: RECOVERY_ACTIONS[most - 1] };
  });
}
