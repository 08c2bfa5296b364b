import type { VNode } from "preact";
import { troublesOfNode } from "../../domain/fleet/trouble.ts";
import { groupBy } from "../../domain/grouped.ts";
import { DAY_MILLIS, HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import { signalText, xidSignal, type NodeSignal } from "../../domain/training/signals.ts";
import { seesAll } from "../access/viewer.ts";
import { policyOf } from "../api/context.ts";
import { alertsSeenBy, type AlertsNow } from "../firing-alerts.ts";
import { address } from "../parts/address.ts";
import { AlertsTable } from "../parts/alerts-table.tsx";
import { pagingOf } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import { readDeviceEvents } from "../read/device-events.ts";
import { readLastScrapes, type LastScrape } from "../read/last-scrapes.ts";
import { readLiveFleet, type LiveFleet, type LiveGpu } from "../read/live-gpus.ts";
import { WHOLE_FLEET } from "../read/sample-scope.ts";
import { fleetSeenBy } from "../read/seen.ts";
import type { Asking } from "../server/asking.ts";
import { readFaults } from "../training/read-signals.ts";
import type { AddPage, PageContext } from "./context.ts";

const DAY_HOURS = 24;
/** XIDs are known from rollups, which the last hours do not have yet. */
const RECENT_MILLIS = 2 * HOUR_MILLIS;

/** Adds the page of nodes with faults now, of silent GPUs, and of the faults of the last day. */
export function addSick(add: AddPage, { ledger, now, answers, readAlerts }: PageContext): void {
  add("/sick", { schema: {}, isLive: true }, async ({ viewer, url }, asking) => {
    const at = now();
    const fleet = fleetSeenBy(viewer, await readLiveFleet(asking.store, ledger.owners, at));
    const hours = Array.from({ length: DAY_HOURS }, (_, hour) => hourOf(at) - hour * HOUR_MILLIS);
    const policy = policyOf(ledger, undefined);
    const signals = (store: Asking["store"]): Promise<readonly NodeSignal[]> =>
      readFaults(store, { clusters: "all", nodes: "all", hours }, { policy, where: [] }).then((read) => read.signals);
    const isOfAll = seesAll(viewer);
    const [alerts, faults, recent, scrapes] = await Promise.all([
      readAlerts(),
      isOfAll ? answers.recentPart(asking, { key: "faults of a day" }, signals, ({ length: rows }) => rows) : [],
      isOfAll ? readXids(asking.store, { from: at - RECENT_MILLIS, until: at }) : [],
      isOfAll ? readLastScrapes(asking.store, { from: at - DAY_MILLIS, until: at }) : [],
    ]);
    // The samples and the charges can show the same XID.
    const byText = new Map([...recent, ...faults].map((signal) => [textOf(signal), signal]));
    const all = [...byText.values()].toSorted((a, b) => b.at - a.at);
    return {
      title: "Sick nodes",
      content: <SickPage {...{ fleet, faults: all, scrapes, url }} alerts={alertsSeenBy(viewer, alerts)} />,
    };
  });
}

/** Reads the XIDs of a time from the samples. */
async function readXids(
  store: Asking["store"],
  time: { readonly from: number; readonly until: number },
): Promise<readonly NodeSignal[]> {
  const events = await readDeviceEvents(store, WHOLE_FLEET, { ...time, pods: [] });
  return events.map(({ cluster, node, at, gpu, count }) =>
    xidSignal({ cluster, node, at }, /^\d+$/.test(gpu) ? Number(gpu) : undefined, count),
  );
}

function textOf(signal: NodeSignal): string {
  return JSON.stringify([signal.cluster, signal.node, signal.at, signalText(signal)]);
}

interface SickProps {
  readonly fleet: LiveFleet;
  /** The last one first. */
  readonly faults: readonly NodeSignal[];
  readonly scrapes: readonly LastScrape[];
  readonly alerts: AlertsNow | undefined;
  readonly url: string;
}

/** A node with its faults now. */
interface SickNode {
  readonly cluster: string;
  readonly node: string;
  readonly faults: readonly string[];
  /** The beginning of the fault of the node, milliseconds since the epoch; undefined if only GPUs have faults. */
  readonly since: number | undefined;
  readonly gpus: number;
  /** Undefined if the node has a fault, and so all its GPUs. */
  readonly sickGpus: number | undefined;
  readonly holders: readonly string[];
}

function SickPage({ fleet, faults, scrapes, alerts, url }: SickProps): VNode {
  const sick = sickNodes(fleet);
  const { unobserved, atMillis } = fleet;
  const scraped = new Map(scrapes.map(({ cluster, node, at }) => [`${cluster}/${node}`, at]));
  const node = (of: Pick<SickNode, "cluster" | "node">): VNode => (
    <a href={address("/node", { cluster: of.cluster, node: of.node })}>{of.node}</a>
  );
  return (
    <>
      <h1>
        {sick.length === 0
          ? "No node has a fault"
          : `${sick.length === 1 ? "1 node has" : `${sick.length} nodes have`} a fault`}
      </h1>
      <p class="lead">As of {utc(atMillis)}: hardware XIDs, memory repairs, slowed clocks, and conditions of Nodes.</p>
      {sick.length > 0 && (
        <Table
          caption="Nodes with a fault now"
          rows={sick}
          paging={pagingOf(url, "sick")}
          columns={[
            { head: "node", cell: node },
            { head: "cluster", cell: ({ cluster }) => cluster },
            { head: "faults", cell: ({ faults: found }) => <bdi>{found.join("; ")}</bdi> },
            { head: "since", isWhole: true, cell: ({ since }) => (since === undefined ? "" : utc(since)) },
            { head: "sick GPUs", isNumber: true, cell: ({ sickGpus, gpus }) => `${sickGpus ?? gpus} of ${gpus}` },
            { head: "holders", cell: ({ holders }) => <bdi>{holders.join(", ")}</bdi> },
          ]}
        />
      )}
      {alerts !== undefined && <h2>Firing alerts</h2>}
      <AlertsTable alerts={alerts} paging={pagingOf(url, "alerts")} now={atMillis} />
      {unobserved.length > 0 && (
        <>
          <h2>Silent</h2>
          <Table
            caption="Nodes whose GPUs have no sample in the last minutes"
            rows={unobserved}
            paging={pagingOf(url, "silent")}
            columns={[
              { head: "node", cell: node },
              { head: "cluster", cell: ({ cluster }) => cluster },
              { head: "model", cell: ({ model }) => model },
              { head: "silent GPUs", isNumber: true, cell: ({ gpus }) => gpus },
              {
                head: "last sample",
                isWhole: true,
                cell: (of) => {
                  const last = scraped.get(`${of.cluster}/${of.node}`);
                  return last === undefined ? "not in the last day" : utc(last);
                },
              },
            ]}
          />
        </>
      )}
      <h2>Faults of the last day</h2>
      {faults.length === 0 ? (
        <Empty>
          <p>
            The last 24 hours have no XID and no fault of a node. <a href="/training/incidents">The incidents</a> of a
            longer time have their cost.
          </p>
        </Empty>
      ) : (
        <>
          <Table
            caption="XIDs and faults of nodes"
            order="the last one first"
            rows={faults}
            paging={pagingOf(url, "faults")}
            columns={[
              { head: "time", isWhole: true, value: ({ at }) => at, cell: ({ at }) => utc(at) },
              {
                head: "node",
                cell: ({ cluster, node: name, at }) => (
                  <a href={address("/node", { cluster, node: name, at: new Date(at).toISOString() })}>{name}</a>
                ),
              },
              { head: "cluster", cell: ({ cluster }) => cluster },
              { head: "fault", cell: (signal) => <bdi>{signalText(signal)}</bdi> },
              { head: "stops pods", cell: ({ isBlocking }) => (isBlocking ? "yes" : "no") },
            ]}
          />
          <p class="links">
            <a href="/training/incidents">What faults cost</a>
          </p>
        </>
      )}
    </>
  );
}

function sickNodes({ gpus, nodes }: LiveFleet): readonly SickNode[] {
  const troubles = new Map(nodes.map((node) => [`${node.cluster}/${node.node}`, troublesOfNode(node)]));
  const counts = new Map(
    nodes.map(({ cluster, node, gpus: kinds }) => [
      `${cluster}/${node}`,
      kinds.reduce((sum, { count }) => sum + count, 0),
    ]),
  );
  const sampled = groupBy(gpus, ({ cluster, node }) => [cluster, node]);
  const silent = nodes
    .filter(({ cluster, node }) => !gpus.some((gpu) => gpu.cluster === cluster && gpu.node === node))
    .map(({ cluster, node }) => ({ cluster, node, ofNode: [] as readonly LiveGpu[] }));
  return [...sampled.map((ofNode) => ({ ...ofNode[0], ofNode })), ...silent]
    .map(({ cluster, node, ofNode }): SickNode => {
      const found = troubles.get(`${cluster}/${node}`) ?? [];
      const sick = ofNode.filter((gpu) => gpu.troubles.length > 0);
      return {
        cluster,
        node,
        faults: [
          ...found.map(({ text }) => text),
          ...sick.flatMap((gpu) => gpu.troubles.map((text) => `GPU ${gpu.gpu}: ${text}`)),
        ],
        since: found.length === 0 ? undefined : Math.min(...found.map(({ since }) => since)),
        gpus: Math.max(ofNode.length, counts.get(`${cluster}/${node}`) ?? 0),
        sickGpus: found.length > 0 ? undefined : sick.length,
        holders: [...new Set(ofNode.flatMap(({ holder }) => holder?.workload?.team ?? []))],
      };
    })
    .filter(({ faults }) => faults.length > 0);
}
