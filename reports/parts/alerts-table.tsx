import type { VNode } from "preact";
import type { AlertsNow, FiringAlert } from "../firing-alerts.ts";
import { address } from "./address.ts";
import { Age } from "./live-table.tsx";
import type { Paging } from "./paging.tsx";
import { Table } from "./table.tsx";

/** The firing alerts of a page, with links to their subjects and runbooks; nothing without a Prometheus. */
export function AlertsTable({ alerts, paging, now }: AlertsTableProps): VNode | null {
  if (alerts === undefined) return null;
  if (alerts === "away") return <p class="quiet">Prometheus does not answer: the firing alerts are unknown.</p>;
  if (alerts.length === 0) return <p class="quiet">No alert fires.</p>;
  return (
    <Table
      caption={alerts.length === 1 ? "1 firing alert" : `${alerts.length} firing alerts`}
      order="the newest first"
      rows={alerts.toSorted((a, b) => b.since - a.since)}
      paging={paging}
      columns={[
        {
          head: "alert",
          cell: ({ name, runbook }) => (/^https?:/.test(runbook) ? <a href={runbook}>{name}</a> : <bdi>{name}</bdi>),
        },
        { head: "severity", cell: ({ severity }) => <bdi>{severity}</bdi> },
        { head: "of", cell: (alert) => <Subject labels={alert.labels} /> },
        { head: "since", value: ({ since }) => since, cell: ({ since }) => <Age since={since} now={now} /> },
        { head: "summary", cell: ({ summary }) => <bdi>{summary}</bdi> },
      ]}
    />
  );
}

interface AlertsTableProps {
  readonly alerts: AlertsNow | undefined;
  readonly paging: Paging;
  readonly now: number;
}

/** The GPU, the pod, the node or the team of an alert, with the link to its page. */
function Subject({ labels }: Pick<FiringAlert, "labels">): VNode | null {
  const { cluster = "", node, gpu, namespace, pod, team } = labels;
  if (node !== undefined && gpu !== undefined)
    return <a href={address("/gpu", { cluster, node, gpu })}>{`GPU ${gpu} of ${node}`}</a>;
  if (pod !== undefined && namespace !== undefined)
    return (
      <a href={address("/workload", { cluster, namespace, pod })}>
        <bdi>{`${namespace}/${pod}`}</bdi>
      </a>
    );
  if (node !== undefined) return <a href={address("/node", { cluster, node })}>{node}</a>;
  return team === undefined ? null : <bdi>{`team ${team}`}</bdi>;
}
