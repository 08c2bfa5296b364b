import type { VNode } from "preact";
import { z } from "zod";
import { formatAmount, type GpuHours } from "../../domain/exact/units.ts";
import { fleetUse, type FleetHours } from "../../domain/fleet/use.ts";
import { seesAll } from "../access/viewer.ts";
import { policyOf } from "../api/context.ts";
import { readFleetHours } from "../read/fleet.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { fixedSpan } from "../report/json.ts";
import { fleetSeenBy } from "../read/seen.ts";
import { readLiveFleet, type LiveFleet, type LiveGpu, type LiveHolder } from "../read/live-gpus.ts";
import { address, explainAddress, teamAddress } from "../parts/address.ts";
import { Figure } from "../parts/figures.tsx";
import { Hours, Ratio } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { Empty, Table, type Column } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { AddPage, PageContext } from "./context.ts";
import { HOUR_MILLIS, MINUTE_MILLIS, hourOf } from "../../domain/time.ts";

const DAY_HOURS = 24;

const EVIDENCE: Readonly<Record<LiveHolder["evidence"], string>> = {
  dra: "DRA",
  status: "pod's status",
  annotation: "annotation",
  group: "reservation group",
  label: "exporter's label",
  "hpc-job": "job's label",
  node: "node in common",
  none: "",
};

/** Adds the page of every GPU in its last sample: holder, since when, evidence and regime. */
export function addFleet(add: AddPage, { ledger, answers, now }: PageContext): void {
  const querystring = z.object({ node: z.string().optional(), team: z.string().optional() });
  add("/fleet", { schema: { querystring }, isLive: true }, async ({ query, viewer, url }, asking) => {
    const at = now();
    const readOnce = (): Promise<FleetDay> =>
      answers.part(
        asking,
        "fleet's day",
        (store) => readDay(store, policyOf(ledger, undefined), at),
        () => 1,
      );
    const [fleet, day] = await Promise.all([
      readLiveFleet(asking.store, ledger.owners, at),
      seesAll(viewer) ? readOnce() : undefined,
    ]);
    return {
      title: "Fleet",
      content: fleetContent(
        fleetSeenBy(viewer, fleet),
        query as z.output<typeof querystring>,
        pagingOf(url, "gpus"),
        day,
      ),
    };
  });
}

/** The use of the fleet over the last charged day. */
interface FleetDay {
  readonly question: ChargesQuestion;
  readonly hours: FleetHours;
}

async function readDay(store: StoreClient, policy: string, at: number): Promise<FleetDay> {
  const until = hourOf(at);
  const span = fixedSpan({ name: "", from: until - DAY_HOURS * HOUR_MILLIS, until });
  const question = { policy, kind: "showback", span, where: [] } as const;
  return { question, hours: await readFleetHours(store, question) };
}

/** Returns the fleet as a page's content: all of it, or the part of a node or a team. The use over a day is always of the whole fleet. */
export function fleetContent(fleet: LiveFleet, only: FleetFilter, paging: Paging, day?: FleetDay): VNode {
  const { gpus, unobserved, atMillis } = fleet;
  const shown = gpus.filter(
    ({ node, holder }) =>
      (only.node === undefined || node === only.node) &&
      (only.team === undefined || holder?.workload?.team === only.team),
  );
  const held = shown.filter(({ holder }) => holder !== undefined).length;
  const missing = unobserved.reduce((sum, each) => sum + each.gpus, 0);
  const measured = shown.flatMap(({ activityRatio }) => activityRatio ?? []);
  const mean = measured.length === 0 ? null : (measured.reduce((a, b) => a + b, 0) / measured.length).toFixed(6);
  return (
    <>
      <h1>GPUs and their holders</h1>
      <p class="lead">As of {utc(atMillis)}, from the samples of the last minutes.</p>
      <dl class="figures">
        <Figure title="GPUs and parts of GPUs" beside="measured now">
          {String(shown.length)}
        </Figure>
        <Figure title="Held" beside={`${shown.length - held} free`}>
          {String(held)}
        </Figure>
        <div>
          <dt>Active on average</dt>
          <dd class="amount">
            <Ratio ratio={mean} />
          </dd>
          <dd class="beside">of GPUs with a measured activity</dd>
        </div>
        {gpus.length + missing > 0 && (
          <Figure title="Silent" beside={missing === 0 ? "all GPUs have samples" : silent(unobserved)}>
            {String(missing)}
          </Figure>
        )}
      </dl>
      {day !== undefined && day.hours.total > 0n && <DayOfFleet {...day} />}
      {shown.length === 0 ? (
        <Empty>
          <p>
            The last minutes have no sample of these GPUs. <code>gpu-ledger check</code> shows the nodes without a
            target. <a href="/quality">Data quality</a> shows the time of the last scrape.
          </p>
        </Empty>
      ) : (
        <>
          <h2>Single GPUs</h2>
          <Table
            isWide
            caption={`${shown.length} GPUs and parts of GPUs, sorted by node`}
            rows={shown}
            paging={paging}
            columns={columnsAt(atMillis)}
          />
        </>
      )}
      <p class="links">
        <a href="/api/v1/fleet">The whole fleet as JSON</a>
      </p>
    </>
  );
}

/** The shown part of the fleet. */
export interface FleetFilter {
  readonly node?: string | undefined;
  readonly team?: string | undefined;
}

/** The common measures of the use of a fleet over a day. */
function DayOfFleet({ question, hours }: FleetDay): VNode {
  const { effective, wasted, utilization, schedulingEfficiency } = fleetUse(hours);
  const gpuHours = (amount: GpuHours): VNode => <Hours hours={formatAmount(amount)} />;
  const ofState = (state: string): string => explainAddress(question, [{ dimension: "state", values: [state] }]);
  return (
    <>
      <h2>Use of the fleet in the last day, in GPU-hours</h2>
      <dl class="figures">
        <Figure title="Total" beside="the capacity">
          <a href={explainAddress(question)}>{gpuHours(hours.total)}</a>
        </Figure>
        <Figure title="Held" beside={<>{gpuHours(hours.unavailable)} unavailable</>}>
          {gpuHours(hours.held)}
        </Figure>
        <Figure title="Effective" beside="held, available, started and used">
          {gpuHours(effective)}
        </Figure>
        <Figure title="Wasted" beside={<>{gpuHours(hours.unused)} held and unused</>}>
          {gpuHours(wasted)}
        </Figure>
        <Figure title="Utilization" beside={<>{gpuHours(hours.active)} active, divided by the total</>}>
          <a href={ofState("active")}>
            <Ratio ratio={utilization} />
          </a>
        </Figure>
        <Figure title="Scheduling efficiency" beside="held, divided by the usable capacity">
          <Ratio ratio={schedulingEfficiency} />
        </Figure>
      </dl>
    </>
  );
}

function silent(unobserved: LiveFleet["unobserved"]): string {
  const named = unobserved.slice(0, 3).map(({ node, gpus }) => `${gpus} of ${node}`);
  return unobserved.length > 3 ? `${named.join(", ")} and of ${unobserved.length - 3} more nodes` : named.join(", ");
}

function columnsAt(nowMillis: number): readonly [Column<LiveGpu>, ...Column<LiveGpu>[]] {
  return [
    {
      head: "node",
      cell: ({ cluster, node }) => <a href={address("/node", { cluster, node })}>{node}</a>,
    },
    {
      head: "GPU",
      cell: ({ cluster, device, gpu, instance, profile }) => (
        <>
          <a href={address("/gpu", { cluster, uuid: device })}>{gpu}</a>
          {instance === "" ? "" : <span class="quiet">{` / ${instance} ${profile}`}</span>}
        </>
      ),
    },
    { head: "model", cell: ({ model }) => model },
    {
      head: "holder",
      value: ({ holder }) => (holder === undefined ? "free" : `${holder.namespace}/${holder.name}`),
      cell: ({ cluster, holder }) =>
        holder === undefined ? <span class="quiet">free</span> : <Holder cluster={cluster} holder={holder} />,
    },
    {
      head: "team",
      cell: ({ holder }) =>
        holder?.workload === undefined ? (
          ""
        ) : (
          <a href={teamAddress(holder.workload.team, "month")}>
            <bdi>{holder.workload.team}</bdi>
          </a>
        ),
    },
    {
      head: "activity",
      isNumber: true,
      value: ({ activityRatio }) => activityRatio ?? -1,
      cell: ({ activityRatio }) => <Ratio ratio={activityRatio === undefined ? null : activityRatio.toFixed(6)} />,
    },
    {
      head: "since",
      value: ({ holder }) => holder?.workload?.sinceMillis ?? Infinity,
      cell: ({ holder }) =>
        holder?.workload === undefined ? (
          ""
        ) : (
          <time dateTime={new Date(holder.workload.sinceMillis).toISOString()}>
            {age(nowMillis - holder.workload.sinceMillis)}
          </time>
        ),
    },
    { head: "type", cell: ({ holder }) => holder?.workload?.type ?? "" },
    { head: "regime", cell: ({ regime }) => regime },
    { head: "evidence", cell: ({ holder }) => (holder === undefined ? "" : EVIDENCE[holder.evidence]) },
  ];
}

function Holder({ cluster, holder }: { readonly cluster: string; readonly holder: LiveHolder }): VNode {
  const { namespace, name, pods } = holder;
  return (
    <>
      <a href={address("/workload", { cluster, namespace, pod: name })}>
        <bdi>
          {namespace}
          {namespace === "" ? "" : "/"}
          {name}
        </bdi>
      </a>
      {pods > 1 && <span class="quiet"> and {pods - 1} more</span>}
    </>
  );
}

/** Returns a duration in its two largest units. */
function age(millis: number): string {
  const minutes = Math.max(0, Math.floor(millis / MINUTE_MILLIS));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}
