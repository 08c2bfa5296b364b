import type { VNode } from "preact";
import { z } from "zod";
import { roundedDecimal } from "../../domain/exact/rational.ts";
import { formatAmount, type Money as Amount } from "../../domain/exact/units.ts";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import { PHASE_TITLES, type RunPhase } from "../../domain/training/phases.ts";
import { policyOf } from "../api/context.ts";
import { askRun, runIdQuery } from "../api/training.ts";
import type { RunDetail } from "../training/read-detail.ts";
import { durationText, progressRatio, shareOf } from "../training/words.ts";
import { spanText } from "../question/span.ts";
import { address, explainAddress, teamAddress } from "../parts/address.ts";
import { TimelineChart } from "../parts/charts/timeline.tsx";
import { Figure } from "../parts/figures.tsx";
import { Link } from "../parts/link.tsx";
import { explained, Hours, hoursColumn, Money, moneyColumn, Ratio } from "../parts/money.tsx";
import { Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";
import { Collectives, Slow, Stops, type RunProps } from "./training-troubles.tsx";

/** Returns the address of the page of a run. */
export function runAddress(id: string, policy: string): string {
  return address("/training/run", { id, policy });
}

/** Adds the page of one training run: what it cost, how much was progress, what went wrong, one suggestion. */
export function addTrainingRun(add: AddPage, context: PageContext): void {
  const { ledger, words } = context;
  const query = z.object({ id: runIdQuery, policy: words.policy });
  add("/training/run", { schema: { querystring: query } }, async ({ query: given }, asking) => {
    const { id, policy: named } = given as z.output<typeof query>;
    const policy = policyOf(ledger, named);
    const detail = await askRun(context, asking, { id, policy });
    const { namespace, name } = detail.run.run;
    const now = context.now();
    const view = { detail, policy, currency: ledger.book.currency, to: chargesAddress(detail, policy, now), now };
    return { title: `Training run ${namespace}/${name}`, content: <RunPage {...view} /> };
  });
}

/** Returns the address of the explanation of a run's charges: those of its workload in the hours in which it ran. */
function chargesAddress({ run }: RunDetail, policy: string, now: number): string {
  const { cluster, namespace, name, begun, ended } = run.run;
  const times = { from: hourOf(begun), until: hourOf(Math.min(ended, now) - 1) + HOUR_MILLIS };
  const where = Object.entries({ cluster, namespace, workload: name }).map(([dimension, value]) => ({
    dimension,
    values: [value],
  }));
  return explainAddress({ policy, kind: "showback", span: { ...times, name: spanText(times) }, where });
}

function RunPage({ detail, policy, currency, to, now }: RunProps & { readonly now: number }): VNode {
  const { run, metricsFailure, suggestion } = detail;
  const { cluster, namespace, kind, name, begun, ended, pods, id } = run.run;
  return (
    <>
      <h1>
        <bdi>{`${namespace}/${name}`}</bdi> {OUTCOMES[run.outcome]}
      </h1>
      <p class="lead">
        {kind} of the team{" "}
        <a href={teamAddress(run.team, "month")}>
          <bdi>{run.team}</bdi>
        </a>
        , cluster {cluster}, with {pods.length} pod{pods.length === 1 ? "" : "s"}, from {utc(begun)} to{" "}
        {ended === Infinity ? "now" : utc(ended)}.
      </p>
      <Summary {...{ detail, policy, currency, to }} />
      {suggestion !== undefined && (
        <div class="notice">
          <p>
            <strong>Suggestion:</strong> <bdi>{suggestion.text}</bdi>{" "}
            <Link to={to}>
              <Money amount={formatAmount(suggestion.atStake.effective)} currency={currency} />
            </Link>{" "}
            {currency} are at stake.
          </p>
        </div>
      )}
      {metricsFailure !== undefined && (
        <div class="notice">
          <p>The metrics could not be read, so progress that they have is missing: {metricsFailure}</p>
        </div>
      )}
      <h2>Over time</h2>
      <TimelineChart timelines={run.layout.timelines} from={begun} until={Math.min(ended, now)} />
      <h2>The bill</h2>
      <Parts {...{ detail, policy, currency, to }} />
      <Stops {...{ detail, policy, currency, to }} />
      <Slow {...{ detail, policy, currency, to }} />
      <Collectives {...{ detail, policy, currency, to }} />
      <p class="links">
        <a href={address("/workload", { cluster, namespace, workload: name })}>The charges of this workload</a>
        <a href={address("/api/v1/training/run", { id, policy })}>This report as JSON</a>
        <a href={address("/training", { policy })}>All runs</a>
      </p>
    </>
  );
}

const OUTCOMES: Readonly<Record<RunDetail["run"]["outcome"], string>> = {
  running: "is running",
  succeeded: "has succeeded",
  failed: "has failed",
  ended: "has ended",
};

/** The phases that are the cost of stops. */
const WRONG: readonly RunPhase[] = ["recovering", "lost", "lost-estimated", "unavailable"];

function Summary({ detail: { run, efficiency }, currency, to }: RunProps): VNode {
  const { total, phases, stops, queuedMillis } = run;
  const wrong = WRONG.reduce((sum, phase) => sum + (phases.get(phase)?.effective ?? 0n), 0n) as Amount;
  return (
    <dl class="figures">
      <Figure
        to={to}
        title={`Cost in ${currency}`}
        beside={
          <>
            <Hours hours={formatAmount(total.gpuHours)} /> GPU-hours
            {total.unpricedGpuHours > 0n && (
              <>, {<Hours hours={formatAmount(total.unpricedGpuHours)} />} without a price</>
            )}
          </>
        }
      >
        <Money amount={formatAmount(total.effective)} currency={currency} />
      </Figure>
      <Figure to={to} title="Progress" beside="of the cost">
        <Ratio ratio={progressRatio(run)} />
      </Figure>
      <Figure
        to={to}
        title={`What went wrong, ${currency}`}
        beside={stops.length === 0 ? "no stop" : `${stops.length} stop${stops.length === 1 ? "" : "s"}`}
      >
        <Money amount={formatAmount(wrong)} currency={currency} />
      </Figure>
      {queuedMillis > 0 && (
        <Figure to={to} title="Waited without GPUs" beside="and without cost">
          {durationText(queuedMillis)}
        </Figure>
      )}
      {efficiency !== undefined && (
        <Figure
          to={to}
          title={efficiency.basis === "tokens" ? "10¹⁸ useful operations cost" : "10¹⁸ operations cost at least"}
          beside={
            efficiency.ofPeak === undefined ? (
              "the peak of the GPUs is not known"
            ) : (
              <>
                {efficiency.basis === "tokens" ? "" : "at most "}
                <Ratio ratio={roundedDecimal(efficiency.ofPeak, 6)} /> of the dense BF16 peak
              </>
            )
          }
        >
          <Money amount={formatAmount(efficiency.costPerExaflop)} currency={currency} />
        </Figure>
      )}
    </dl>
  );
}

function Parts({ detail: { run }, policy, currency, to }: RunProps): VNode {
  const rows = [...run.phases];
  return (
    <Table
      caption={`By parts, under the policy ${policy} (${currency})`}
      rows={rows}
      columns={[
        { head: "part", cell: ([phase]) => PHASE_TITLES[phase], foot: "sum" },
        {
          head: "GPU-hours",
          ...explained(
            hoursColumn(rows, ([, { gpuHours }]) => formatAmount(gpuHours)),
            () => to,
          ),
        },
        {
          head: "cost",
          ...explained(
            moneyColumn(rows, ([, { effective }]) => formatAmount(effective), currency),
            () => to,
          ),
        },
        {
          head: "of the cost",
          isNumber: true,
          cell: ([, amounts]) => (
            <Link to={to}>
              <Ratio ratio={shareOf(amounts, run.total)} />
            </Link>
          ),
        },
      ]}
    />
  );
}
