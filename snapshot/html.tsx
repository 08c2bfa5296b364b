import type { VNode } from "preact";
import { formatAmount, type GpuHours, type Money as Amount } from "../domain/exact/units.ts";
import { whyAddress } from "../domain/practice/page.ts";
import { momentText } from "../domain/time.ts";
import { COUNTED } from "../reports/format/counted.ts";
import { fileHtml } from "../reports/render/file-html.tsx";
import { Money } from "../reports/parts/money.tsx";
import { Table, type Column } from "../reports/parts/table.tsx";
import { monthOf } from "./month.ts";
import type { Snapshot } from "./snapshot.ts";
import { amounts, HELD } from "./text.ts";

/** Returns a snapshot as one HTML file that loads nothing. `prices` is the source of the prices. */
export function snapshotHtml(snapshot: Snapshot, prices: string, version: string): string {
  return fileHtml(
    `GPUs of ${snapshot.cluster}`,
    <>
      <Content snapshot={snapshot} prices={prices} />
      <p class="quiet">
        Made by gpu-ledger {version}. Amounts of a month are those of an hour, times 730. Nothing was stored.
      </p>
    </>,
  );
}

interface ContentProps {
  readonly snapshot: Snapshot;
  readonly prices: string;
}

function Content({ snapshot, prices }: ContentProps): VNode {
  const { cluster, atMillis, currency, fleet, total, teams, holders, wastes, practices } = snapshot;
  const { gpus } = amounts(currency);
  const money = (amount: Amount): VNode => <Money amount={formatAmount(amount)} currency={currency} />;
  const spend = <Of extends { readonly gpus: GpuHours; readonly cost: Amount }>(): readonly Column<Of>[] => [
    { head: "GPUs", isNumber: true, cell: (row) => gpus(row.gpus) },
    { head: "per hour", isNumber: true, cell: ({ cost }) => money(cost) },
    { head: "per month", isNumber: true, cell: ({ cost }) => money(monthOf(cost)) },
  ];
  return (
    <>
      <h1>
        {money(total.cost)} {currency} per hour, {money(monthOf(total.cost))} per month at this pace
      </h1>
      <p class="lead">
        The GPUs of {cluster} on {momentText(atMillis)} UTC: one moment. A workload that is idle now may work in an
        hour. Prices: {prices}.{total.unpricedGpus > 0n && ` ${gpus(total.unpricedGpus)} GPUs have no price.`}
      </p>
      <h2>Physical GPUs</h2>
      <Table
        caption="By model and by the source of their count"
        rows={fleet}
        columns={[
          { head: "model", cell: ({ model }) => <bdi>{model === "" ? "unknown" : model}</bdi> },
          { head: "GPUs", isNumber: true, cell: (line) => line.gpus },
          { head: "nodes", isNumber: true, cell: ({ nodes }) => nodes },
          { head: "counted", cell: ({ countedBy }) => COUNTED[countedBy] },
        ]}
      />
      <h2>The largest wastes now</h2>
      <Table
        caption={`GPU time that nobody uses (${currency}, highest first)`}
        rows={wastes}
        columns={[
          { head: "of", cell: ({ of }) => <bdi>{of}</bdi> },
          { head: "state", cell: ({ state }) => state },
          { head: "team", cell: ({ team }) => <bdi>{team}</bdi> },
          ...spend<Snapshot["wastes"][number]>(),
          { head: "what to do", cell: ({ advice }) => advice },
        ]}
      />
      <h2>Cost by team and state</h2>
      <Table
        caption={`Holders pay for what they hold, the platform for the rest (${currency}, highest first)`}
        rows={teams}
        columns={[
          { head: "team", cell: ({ team }) => <bdi>{team}</bdi> },
          { head: "state", cell: ({ state }) => state },
          ...spend<Snapshot["teams"][number]>(),
        ]}
      />
      <h2>Workloads with GPUs</h2>
      <Table
        caption={`By cost (${currency}, highest first)`}
        rows={holders}
        columns={[
          {
            head: "workload",
            cell: ({ namespace, kind, workload }) => <bdi>{`${namespace}/${kind}/${workload}`}</bdi>,
          },
          { head: "team", cell: ({ team }) => <bdi>{team}</bdi> },
          { head: "type", cell: ({ type }) => type },
          { head: "holds", cell: ({ held }) => held.map((what) => HELD[what]).join(", ") },
          { head: "pods", isNumber: true, cell: ({ pods }) => pods },
          {
            head: "activity",
            isNumber: true,
            cell: ({ activity }) => (activity === undefined ? "–" : `${(activity * 100).toFixed(1)} %`),
          },
          ...spend<Snapshot["holders"][number]>(),
        ]}
      />
      <h2>Practices that are not followed</h2>
      <Table
        caption={`Money at stake per month (${currency}), most urgent first. Amounts of different practices overlap.`}
        rows={practices}
        columns={[
          { head: "practice", cell: ({ title, check }) => <a href={whyAddress(check)}>{title}</a> },
          { head: "severity", cell: ({ severity }) => severity },
          { head: "team", cell: ({ team }) => <bdi>{team ?? ""}</bdi> },
          { head: "objects", isNumber: true, cell: ({ count }) => count },
          { head: "at stake", isNumber: true, cell: ({ atStake }) => (atStake === undefined ? "" : money(atStake)) },
        ]}
      />
      <Lacks snapshot={snapshot} />
    </>
  );
}

function Lacks({ snapshot: { unseen, remarks } }: Pick<ContentProps, "snapshot">): VNode {
  return (
    <>
      {unseen.length > 0 && (
        <>
          <h2>Not seen</h2>
          <ul>
            {unseen.map(({ what, why, without }) => (
              <li>
                {what}: {why}. Without it {without}.
              </li>
            ))}
          </ul>
        </>
      )}
      {remarks.length > 0 && (
        <>
          <h2>Objects that look wrong</h2>
          <ul>
            {remarks.map((remark) => (
              <li>{remark}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
