import type { VNode } from "preact";
import { z } from "zod";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { seesAll } from "../access/viewer.ts";
import { allowed, policyOf } from "../api/context.ts";
import { alertsSeenBy, type AlertsNow } from "../firing-alerts.ts";
import { address } from "../parts/address.ts";
import { Figure } from "../parts/figures.tsx";
import { FleetMap, MAP_VALUES } from "../parts/fleet-map.tsx";
import { Age, LiveTable } from "../parts/live-table.tsx";
import { grouped } from "../parts/money.tsx";
import { pagingOf } from "../parts/paging.tsx";
import { Empty, type Column } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { readCostsPerHour, type CostPerHour } from "../read/cost-per-hour.ts";
import { readFleetHours } from "../read/fleet.ts";
import { readLastUses, type LastUse } from "../read/idle-since.ts";
import { readLiveFleet, type LiveFleet } from "../read/live-gpus.ts";
import { GPU_STATES, mapGpus, stateOf, type GpuState, type MapGpu } from "../read/map-gpus.ts";
import { fleetSeenBy } from "../read/seen.ts";
import { fixedSpan } from "../report/json.ts";
import type { AddPage, PageContext } from "./context.ts";
import { DayOfFleet, type FleetDay } from "./fleet-day.tsx";

const DAY_HOURS = 24;

const QUERY = {
  node: z.string().default(""),
  team: z.string().default(""),
  model: z.string().default(""),
  pool: z.string().default(""),
  state: z.union([z.enum(GPU_STATES), z.literal("")]).default(""),
  show: z.enum(MAP_VALUES).default("activity"),
};

/** The part of the fleet that an address shows, and the value in the map; empty texts do not limit it. */
export type FleetView = z.output<z.ZodObject<typeof QUERY>>;

/** Adds the page of every GPU in its last sample: a map, and a table with holder, measurements and faults. */
export function addFleet(add: AddPage, { ledger, answers, now, readAlerts }: PageContext): void {
  const querystring = z.object(QUERY);
  add("/fleet", { schema: { querystring }, isLive: true }, async ({ query, viewer, url }, asking) => {
    const at = now();
    const recent = <Value extends object>(key: string, make: (store: StoreClient) => Promise<Value>): Promise<Value> =>
      answers.recentPart(asking, { key }, make, (value) => (Array.isArray(value) ? value.length / 10 : 1));
    const day = lastDay(policyOf(ledger, undefined), at);
    const ofViewer = { ...day, where: allowed([], viewer) };
    const [alerts, fleet, costs, uses, hours] = await Promise.all([
      readAlerts(),
      readLiveFleet(asking.store, ledger.owners, at),
      recent("costs per hour", (store) => readCostsPerHour(store, ofViewer)),
      recent("last uses", (store) => readLastUses(store, at)),
      seesAll(viewer) ? recent("fleet's day", (store) => readFleetHours(store, day)) : undefined,
    ]);
    const view = {
      fleet: fleetSeenBy(viewer, fleet),
      costs,
      uses,
      alerts: alertsSeenBy(viewer, alerts),
      currency: ledger.book.currency,
      day: hours && { question: day, hours },
    };
    return { title: "Fleet", content: fleetContent(view, query as FleetView, url) };
  });
}

function lastDay(policy: string, at: number): ChargesQuestion {
  const until = hourOf(at);
  const span = fixedSpan({ name: "", from: until - DAY_HOURS * HOUR_MILLIS, until });
  return { policy, kind: "showback", span, where: [] };
}

/** The fleet at a time as a viewer sees it. */
export interface FleetParts {
  readonly fleet: LiveFleet;
  readonly costs: readonly CostPerHour[];
  readonly uses: readonly LastUse[];
  readonly alerts?: AlertsNow | undefined;
  readonly currency: string;
  /** The use of the whole fleet over the last charged day; absent for a viewer of some teams. */
  readonly day?: FleetDay | undefined;
}

/** Returns the fleet as a page's content. The use over a day is always of the whole fleet. */
export function fleetContent(parts: FleetParts, view: FleetView, url: string): VNode {
  const { fleet, day, currency, alerts } = parts;
  const all = mapGpus(parts);
  const shown = all.filter((gpu) => isShown(gpu, view));
  const unobserved = fleet.unobserved.filter((node) => isSilentShown(node, view));
  const count = (state: GpuState): number => all.filter((gpu) => stateOf(gpu) === state).length;
  const missing = fleet.unobserved.reduce((sum, each) => sum + each.gpus, 0);
  const cost = all.reduce((sum, { costPerHour }) => sum + (costPerHour ?? 0), 0);
  const link = (state: GpuState): string => address("/fleet", { ...view, state });
  return (
    <>
      <h1>GPUs and their holders</h1>
      <p class="lead">As of {utc(fleet.atMillis)}, from the samples of the last minutes.</p>
      <dl class="figures">
        <Figure title="GPUs and parts of GPUs" beside="with a sample in the last minutes">
          {grouped(String(all.length))}
        </Figure>
        {GPU_STATES.map((state) => (
          <Figure title={STATE_TITLES[state][0]} beside={STATE_TITLES[state][1]} to={link(state)}>
            {grouped(String(state === "silent" ? missing : count(state)))}
          </Figure>
        ))}
        {alerts !== undefined && (
          <Figure
            title="Firing alerts"
            beside={alerts === "away" ? "Prometheus does not answer" : "now"}
            to="/sick#alerts"
          >
            {alerts === "away" ? "–" : String(alerts.length)}
          </Figure>
        )}
        {cost > 0 && (
          <Figure title={`Cost per hour in ${currency}`} beside="mean of the last charged day">
            {grouped(cost.toFixed(2))}
          </Figure>
        )}
      </dl>
      <Filters all={all} view={view} />
      {shown.length === 0 && unobserved.length === 0 ? (
        <Empty>
          <p>
            The last minutes have no sample of these GPUs. <code>gpu-ledger check</code> shows the nodes without a
            target. <a href="/quality">Data quality</a> shows the time of the last scrape.
          </p>
        </Empty>
      ) : (
        <>
          <FleetMap gpus={shown} unobserved={unobserved} value={view.show} />
          {shown.length > 0 && (
            <>
              <h2>Single GPUs</h2>
              <LiveTable
                fleet={{ gpus: shown, atMillis: fleet.atMillis }}
                paging={pagingOf(url, "gpus")}
                beside={idleColumns(fleet.atMillis, currency)}
                last={[{ head: "pool", cell: ({ pool }) => pool }]}
              />
            </>
          )}
        </>
      )}
      {day !== undefined && day.hours.total > 0n && <DayOfFleet {...day} />}
      <p class="links">
        <a href="/api/v1/fleet">The whole fleet as JSON</a>
      </p>
    </>
  );
}

const STATE_TITLES: Readonly<Record<GpuState, readonly [title: string, beside: string]>> = {
  active: ["Active", "held and used"],
  idle: ["Idle", "held, activity below 1 %"],
  free: ["Free", "nobody holds them"],
  sick: ["Sick", "the GPU or its node has a fault"],
  silent: ["Silent", "no sample in the last minutes"],
};

function isShown(gpu: MapGpu, { node, team, model, pool, state }: FleetView): boolean {
  return (
    (node === "" || gpu.node === node) &&
    (team === "" || gpu.holder?.workload?.team === team) &&
    (model === "" || gpu.model === model) &&
    (pool === "" || gpu.pool === pool) &&
    (state === "" || stateOf(gpu) === state)
  );
}

/** A silent GPU has no holder in a sample, and its pool is not in the map. */
function isSilentShown(
  silent: LiveFleet["unobserved"][number],
  { node, team, model, pool, state }: FleetView,
): boolean {
  return (
    (node === "" || silent.node === node) &&
    (model === "" || silent.model === model) &&
    team === "" &&
    pool === "" &&
    (state === "" || state === "silent")
  );
}

/** A form for the shown part of the fleet and the value of the map. It works without a script. */
function Filters({ all, view }: { readonly all: readonly MapGpu[]; readonly view: FleetView }): VNode {
  const valuesOf = (of: (gpu: MapGpu) => string | undefined): readonly string[] =>
    [...new Set(all.flatMap((gpu) => of(gpu) || []))].toSorted();
  return (
    <form class="view" method="get" action="/fleet">
      {view.node !== "" && <input type="hidden" name="node" value={view.node} />}
      <Choice title="Map of" name="show" value={view.show} values={MAP_VALUES} />
      <Choice title="State" name="state" value={view.state} values={GPU_STATES} all="all states" />
      <Choice
        title="Team"
        name="team"
        value={view.team}
        values={valuesOf(({ holder }) => holder?.workload?.team)}
        all="all teams"
      />
      <Choice title="Model" name="model" value={view.model} values={valuesOf(({ model }) => model)} all="all models" />
      <Choice title="Pool" name="pool" value={view.pool} values={valuesOf(({ pool }) => pool)} all="all pools" />
      <button type="submit">Show</button>
    </form>
  );
}

/** A field with the values to choose from; `all` is the title of no choice. A chosen value that nothing has any more stays in it. */
function Choice({ title, name, value, values, all }: ChoiceProps): VNode {
  const isOther = value !== "" && !values.includes(value);
  return (
    <label>
      {title}
      <select name={name}>
        {all !== undefined && <option value="">{all}</option>}
        {[...values, ...(isOther ? [value] : [])].map((one) => (
          <option value={one} selected={one === value}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ChoiceProps {
  readonly title: string;
  readonly name: keyof FleetView;
  readonly value: string;
  readonly values: readonly string[];
  readonly all?: string;
}

function idleColumns(now: number, currency: string): readonly Column<MapGpu>[] {
  return [
    {
      head: "idle since",
      value: ({ idleSince }) => idleSince ?? Infinity,
      cell: ({ idleSince }) => (idleSince === undefined ? "" : <Age since={idleSince} now={now} />),
    },
    {
      head: `${currency}/h`,
      isNumber: true,
      value: ({ costPerHour }) => costPerHour ?? -1,
      cell: ({ costPerHour }) => costPerHour?.toFixed(2) ?? "–",
    },
  ];
}
