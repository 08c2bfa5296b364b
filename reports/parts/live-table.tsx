import type { VNode } from "preact";
import { MINUTE_MILLIS } from "../../domain/time.ts";
import type { LiveGpu, LiveHolder } from "../read/live-gpus.ts";
import { address, teamAddress } from "./address.ts";
import type { Paging } from "./paging.tsx";
import { Table, type Column } from "./table.tsx";

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

/** GPUs in their last sample: holder, measurements and faults. Columns of the page stand `beside` "held since", and last. */
export function LiveTable<Gpu extends LiveGpu>({ fleet, paging, beside = [], last = [] }: LiveTableProps<Gpu>): VNode {
  const { gpus, atMillis } = fleet;
  return (
    <Table
      isWide
      caption={gpus.length === 1 ? "1 GPU or part of a GPU" : `${gpus.length} GPUs and parts of GPUs`}
      order="by node and GPU"
      rows={gpus}
      paging={paging}
      columns={[...holderColumns(atMillis), ...beside, ...MEASURED_COLUMNS, ...last]}
    />
  );
}

interface LiveTableProps<Gpu> {
  readonly fleet: { readonly gpus: readonly Gpu[]; readonly atMillis: number };
  readonly paging: Paging;
  readonly beside?: readonly Column<Gpu>[];
  readonly last?: readonly Column<Gpu>[];
}

function holderColumns(nowMillis: number): readonly [Column<LiveGpu>, ...Column<LiveGpu>[]] {
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
      head: "held since",
      value: ({ holder }) => holder?.workload?.sinceMillis ?? Infinity,
      cell: ({ holder }) =>
        holder?.workload === undefined ? "" : <Age since={holder.workload.sinceMillis} now={nowMillis} />,
    },
  ];
}

const MEASURED_COLUMNS: readonly Column<LiveGpu>[] = [
  {
    head: "activity",
    isNumber: true,
    value: ({ activityRatio }) => activityRatio ?? -1,
    cell: ({ activityRatio }) => shareText(activityRatio ?? null),
  },
  {
    head: "memory",
    isNumber: true,
    value: (gpu) => memoryRatio(gpu) ?? -1,
    cell: (gpu) => shareText(memoryRatio(gpu)),
  },
  numberColumn("°C", ({ temperatureCelsius }) => temperatureCelsius),
  numberColumn("W", ({ powerWatts }) => powerWatts),
  { head: "faults", cell: ({ troubles }) => troubles.join("; ") },
  { head: "type", cell: ({ holder }) => holder?.workload?.type ?? "" },
  { head: "regime", cell: ({ regime }) => regime },
  { head: "evidence", cell: ({ holder }) => (holder === undefined ? "" : EVIDENCE[holder.evidence]) },
];

/** Returns a measured part in percent: a measurement, unlike a figure of charges, has no explanation. */
function shareText(ratio: number | null): string {
  return ratio === null ? "–" : `${(ratio * 100).toFixed(1)} %`;
}

/** Returns the used part of a device's memory, 0..1; null if it was not measured. */
export function memoryRatio({ memoryUsedBytes, memoryTotalBytes }: LiveGpu): number | null {
  return memoryUsedBytes === null || memoryTotalBytes === null || memoryTotalBytes === 0
    ? null
    : memoryUsedBytes / memoryTotalBytes;
}

function numberColumn(head: string, of: (gpu: LiveGpu) => number | null): Column<LiveGpu> {
  return {
    head,
    isNumber: true,
    value: (gpu) => of(gpu) ?? -1,
    cell: (gpu) => {
      const value = of(gpu);
      return value === null ? "–" : String(Math.round(value));
    },
  };
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

/** The time since a moment, in its two largest units. */
export function Age({ since, now }: { readonly since: number; readonly now: number }): VNode {
  return <time dateTime={new Date(since).toISOString()}>{age(now - since)}</time>;
}

/** Returns a duration in its two largest units. */
export function age(millis: number): string {
  const minutes = Math.max(0, Math.floor(millis / MINUTE_MILLIS));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}
