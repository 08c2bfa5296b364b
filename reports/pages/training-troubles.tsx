import type { VNode } from "preact";
import { formatAmount, type Money as Amount } from "../../domain/exact/units.ts";
import type { Collective } from "../../domain/training/collectives.ts";
import type { RunPhase } from "../../domain/training/phases.ts";
import type { StopCost } from "../../domain/training/report.ts";
import type { RunDetail } from "../training/read-detail.ts";
import { durationText, lateText, LOSS_SOURCES, stopText } from "../training/words.ts";
import { Link } from "../parts/link.tsx";
import { explained, Money, moneyColumn, Ratio } from "../parts/money.tsx";
import { Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";

/** A run, and how its figures are shown. */
export interface RunProps {
  readonly detail: RunDetail;
  readonly policy: string;
  readonly currency: string;
  /** The address of the explanation of the run's charges. */
  readonly to: string;
}
export function Stops({ detail: { run }, currency, to }: RunProps): VNode | null {
  const { stops } = run;
  if (stops.length === 0) return null;
  const cost = (head: string, ...phases: readonly RunPhase[]) => ({
    head,
    ...explained(
      moneyColumn(
        stops,
        (stop: StopCost) =>
          formatAmount(phases.reduce((sum, phase) => sum + (stop.phases.get(phase)?.effective ?? 0n), 0n) as Amount),
        currency,
      ),
      () => to,
    ),
  });
  return (
    <>
      <h2>What went wrong</h2>
      <Table
        caption={`Stops (${currency})`}
        rows={stops}
        columns={[
          { head: "stop", isWhole: true, cell: ({ stop }) => utc(stop.at), foot: "all" },
          { head: "cause", cell: ({ stop }) => <bdi>{stopText(stop)}</bdi> },
          { head: "pod", cell: ({ stop }) => <bdi>{stop.pod.name}</bdi> },
          {
            head: "back after",
            isNumber: true,
            cell: ({ stop }) => (stop.isRestarted ? durationText(stop.until - stop.at) : "never"),
          },
          cost("waiting", "waiting"),
          cost("recovering", "recovering"),
          cost("lost progress", "lost"),
          cost("estimated lost", "lost-estimated"),
          {
            head: "lost work is known by",
            cell: ({ stop }) => (stop.loss === undefined ? "nothing" : LOSS_SOURCES[stop.loss.by]),
          },
        ]}
      />
    </>
  );
}

export function Slow({ detail: { slow }, currency, to }: RunProps): VNode | null {
  if (slow === undefined) return null;
  return (
    <>
      <h2>Stragglers</h2>
      <p>
        In the last seven days the gang lost{" "}
        <Link to={to}>
          <Money amount={formatAmount(slow.cost.effective)} currency={currency} />
        </Link>{" "}
        {currency} of productive time by GPUs that are slower than its median.
      </p>
      <Table
        caption="Slow GPUs of the gang"
        order="slowest first"
        rows={slow.stragglers}
        columns={[
          { head: "GPU", cell: ({ node, gpu }) => <bdi>{`GPU ${gpu} of ${node}`}</bdi> },
          { head: "pod", cell: ({ pod }) => <bdi>{pod}</bdi> },
          { head: "measure", cell: ({ measure }) => measure },
          {
            head: "of the median",
            isNumber: true,
            cell: ({ ofMedian }) => (
              <Link to={to}>
                <Ratio ratio={ofMedian.toFixed(6)} />
              </Link>
            ),
          },
          { head: "slow hours", isNumber: true, cell: ({ slowHours, hours }) => `${slowHours} of ${hours}` },
        ]}
      />
    </>
  );
}

export function Collectives({ detail: { collectives } }: RunProps): VNode | null {
  if (collectives.length === 0) return null;
  const number = (head: string, of: (each: Collective) => string) => ({ head, isNumber: true, cell: of });
  return (
    <>
      <h2>Collectives</h2>
      <Table
        caption="Collectives of the last seven days, as NCCL Inspector measured them"
        order="longest first"
        rows={collectives}
        columns={[
          { head: "collective", cell: ({ operation }) => <bdi>{operation}</bdi> },
          { head: "size", cell: ({ size }) => <bdi>{size}</bdi> },
          number("nodes", ({ nodes }) => String(nodes)),
          number("ranks", ({ ranks }) => String(ranks)),
          number("GPUs", ({ gpus }) => String(gpus)),
          number("GB/s", ({ gbs }) => gbs.toFixed(1)),
          number("lowest hour", ({ lowest }) => lowest.gbs.toFixed(1)),
          { head: "at", isWhole: true, cell: ({ lowest }) => utc(lowest.hour) },
          {
            head: "the others wait for",
            cell: ({ late }) => <bdi>{late.map(lateText).join("; ")}</bdi>,
          },
        ]}
      />
    </>
  );
}
