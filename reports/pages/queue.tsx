import type { VNode } from "preact";
import type { QueueView } from "../../domain/queue/view.ts";
import { counted } from "../../domain/counted.ts";
import { waitReason } from "../../domain/queue/reason.ts";
import { readQueue } from "../read/queue.ts";
import { address } from "../parts/address.ts";
import { pagingOf } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the page of pods that wait for GPUs with their reasons, of GPUs that are held without use, and of the rest of quotas and queues. */
export function addQueue(add: AddPage, { ledger, now }: PageContext): void {
  add("/queue", { schema: {}, isLive: true }, async ({ viewer, url }, { store }) => {
    const at = now();
    const queue = await readQueue(store, ledger.owners, viewer, at);
    return { title: "Queue", content: <QueuePage queue={queue} at={at} url={url} /> };
  });
}

function QueuePage({ queue, at, url }: QueueProps & { readonly at: number }): VNode {
  const { pending, gangs, quotas, queues } = queue;
  const sum = (of: (group: QueueView["pending"][number]) => number): number =>
    pending.reduce((total, group) => total + of(group), 0);
  const pods = sum(({ pods: count }) => count);
  return (
    <>
      <h1>
        {pods === 0
          ? "No pod waits for GPUs"
          : `${pods} pod${pods === 1 ? " waits" : "s wait"} for ${sum(({ devices }) => devices)} GPUs`}
      </h1>
      <p class="lead">As of {utc(at)}.</p>
      {pods === 0 && gangs.length === 0 && quotas.length === 0 && queues.length === 0 && (
        <Empty>
          <p>
            No pod waits, and no quota or queue has GPUs. Only watched clusters have data about waiting pods. Add
            clusters under <code>kubernetes.clusters</code> to watch them.
          </p>
        </Empty>
      )}
      {pending.length > 0 && <Waiting queue={queue} url={url} />}
      {gangs.length > 0 && <Gangs queue={queue} url={url} />}
      {queues.length > 0 && <Queues queue={queue} url={url} />}
      {quotas.length > 0 && <Quotas queue={queue} url={url} />}
    </>
  );
}

interface QueueProps {
  readonly queue: QueueView;
  readonly url: string;
}

function Waiting({ queue: { pending, longest }, url }: QueueProps): VNode {
  return (
    <>
      <h2>Reasons</h2>
      <Table
        caption="By team, queue and the scheduler’s reason"
        rows={pending}
        paging={pagingOf(url, "pending")}
        columns={[
          { head: "team", cell: ({ team }) => <bdi>{team}</bdi> },
          { head: "cluster", cell: ({ cluster }) => cluster },
          { head: "queue", cell: ({ queue: name }) => <bdi>{name}</bdi> },
          { head: "priority", cell: ({ priorityClass }) => priorityClass },
          { head: "reason", cell: ({ reason }) => reason },
          { head: "pods", isNumber: true, cell: ({ pods: count }) => count },
          { head: "GPUs", isNumber: true, cell: ({ devices }) => devices },
          {
            head: "longest wait",
            isNumber: true,
            value: ({ oldestSeconds }) => oldestSeconds,
            cell: ({ oldestSeconds }) => minutes(oldestSeconds),
          },
        ]}
      />
      <h2>Longest waits</h2>
      <Table
        caption="Waiting pods and gangs"
        order="longest wait first"
        rows={longest}
        paging={pagingOf(url, "waits")}
        columns={[
          {
            head: "pod or gang",
            value: ({ namespace, name, gang }) => `${namespace}/${gang?.name ?? name}`,
            cell: ({ cluster, namespace, name, gang, pods }) => (
              <>
                <a href={address("/workload", { cluster, namespace, pod: name })}>
                  <bdi>{`${namespace}/${gang?.name ?? name}`}</bdi>
                </a>
                {gang !== null && <span class="quiet">{` ${gang.kind}, ${counted(pods, "waiting pod")}`}</span>}
              </>
            ),
          },
          { head: "team", cell: ({ team }) => <bdi>{team}</bdi> },
          { head: "GPUs", isNumber: true, cell: ({ devices }) => devices },
          {
            head: "since",
            isNumber: true,
            value: ({ waitingSeconds }) => waitingSeconds,
            cell: ({ waitingSeconds }) => minutes(waitingSeconds),
          },
          { head: "reason", cell: (pod) => <bdi>{waitReason(pod).why}</bdi> },
          { head: "ends with", cell: (pod) => <bdi>{waitReason(pod).endsWith}</bdi> },
          { head: "message of the scheduler", cell: ({ message }) => <bdi class="quiet">{message}</bdi> },
        ]}
      />
    </>
  );
}

function Gangs({ queue: { gangs }, url }: QueueProps): VNode {
  return (
    <>
      <h2>Gangs that hold GPUs and wait for more</h2>
      <Table
        caption="The gangs cannot use these GPUs yet. Their state is waiting."
        rows={gangs}
        paging={pagingOf(url, "gangs")}
        columns={[
          { head: "gang", cell: ({ namespace, kind, name }) => <bdi>{`${kind} ${namespace}/${name}`}</bdi> },
          { head: "team", cell: ({ team }) => <bdi>{team}</bdi> },
          {
            head: "pods with GPUs",
            isNumber: true,
            value: ({ holdingPods }) => holdingPods,
            cell: ({ holdingPods, size }) => `${holdingPods} of ${size}`,
          },
          { head: "GPUs held", isNumber: true, cell: ({ heldDevices }) => heldDevices },
          {
            head: "since",
            isNumber: true,
            value: ({ holdingSeconds }) => holdingSeconds,
            cell: ({ holdingSeconds }) => minutes(holdingSeconds),
          },
        ]}
      />
    </>
  );
}

function Queues({ queue: { queues }, url }: QueueProps): VNode {
  return (
    <>
      <h2>Queues</h2>
      <Table
        caption="Quota of each resource and its admitted part; a queue of a namespace shares the quota of a cluster’s queue"
        order="by name"
        rows={queues.toSorted(byName)}
        paging={pagingOf(url, "queues")}
        columns={[
          {
            head: "queue",
            cell: ({ namespace, name }) => <bdi>{namespace === "" ? name : `${namespace}/${name}`}</bdi>,
          },
          { head: "scheduler", cell: ({ scheduler }) => scheduler },
          { head: "resource", cell: ({ resource }) => resource },
          {
            head: "quota",
            isNumber: true,
            value: ({ quota }) => quota,
            cell: ({ namespace, quota }) => (namespace === "" ? quota : "–"),
          },
          { head: "admitted", isNumber: true, cell: ({ admitted }) => admitted },
          { head: "borrowed", isNumber: true, cell: ({ borrowed }) => borrowed },
        ]}
      />
    </>
  );
}

function Quotas({ queue: { quotas }, url }: QueueProps): VNode {
  return (
    <>
      <h2>Quotas</h2>
      <Table
        caption="ResourceQuotas for GPUs"
        order="by name"
        rows={quotas.toSorted(byName)}
        paging={pagingOf(url, "quotas")}
        columns={[
          { head: "quota", cell: ({ namespace, name }) => <bdi>{`${namespace}/${name}`}</bdi> },
          { head: "resource", cell: ({ resource }) => resource },
          { head: "granted", isNumber: true, cell: ({ hard }) => hard },
          { head: "used", isNumber: true, cell: ({ used }) => used },
          {
            head: "left",
            isNumber: true,
            value: ({ left }) => left,
            cell: ({ left }) => (left < 0 ? `0, ${-left} over the quota` : left),
          },
        ]}
      />
    </>
  );
}

/** The order of names; queues of a whole cluster are first. */
function byName(a: QueueView["quotas" | "queues"][number], b: QueueView["quotas" | "queues"][number]): number {
  const [first, second] = [a, b].map(({ cluster, namespace, name, resource }) =>
    [cluster, namespace, name, resource].join("/"),
  );
  return first! < second! ? -1 : 1;
}

function minutes(seconds: number): string {
  const whole = Math.floor(seconds / 60);
  return whole < 60 ? `${whole} min` : `${Math.floor(whole / 60)} h ${whole % 60} min`;
}
