import type { VNode } from "preact";
import { policyOf } from "../api/context.ts";
import { readLiveFleet } from "../read/live-gpus.ts";
import { standingOf } from "../read/standing.ts";
import { readScrapedTargets, type ScrapedTarget } from "../read/quality.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { readCharged } from "../report/charged.ts";
import { readReport } from "../report/read-report.ts";
import type { Report } from "../report/report.ts";
import { address, explainAddress } from "../parts/address.ts";
import { Figure } from "../parts/figures.tsx";
import { hoursColumn, moneyColumn, Ratio } from "../parts/money.tsx";
import { pagingOf } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";
import { DAY_MILLIS, HOUR_MILLIS, hourOf } from "../../domain/time.ts";

/** The number of gone targets that are named. */
const MOST_GONE = 5;

/** Adds the page about the freshness and completeness of the data behind the figures. */
export function addQuality(add: AddPage, { ledger, answers, now }: PageContext): void {
  add("/quality", { schema: {}, isLive: true }, async ({ url }, asking) => {
    const { store } = asking;
    const at = now();
    const until = hourOf(at);
    const span = { name: "24h", from: until - DAY_MILLIS, until };
    const question = { policy: policyOf(ledger, undefined), kind: "showback", span, where: [] } as const;
    const byNodeOnce = (): Promise<Report> =>
      answers.recentPart(
        asking,
        { key: "quality's day" },
        (store) => readReport(store, { ...question, by: ["cluster", "node"] }, ledger.book, { isCompared: false }),
        ({ rows }) => rows.length,
      );
    const [targets, byNode, { unobserved }, charged] = await Promise.all([
      readScrapedTargets(store, { from: at - HOUR_MILLIS, until: at }),
      byNodeOnce(),
      readLiveFleet(store, ledger.owners, at),
      readCharged(store, { from: span.from, until: span.until + HOUR_MILLIS }),
    ]);
    const silent = unobserved.reduce((sum, { gpus }) => sum + gpus, 0);
    return {
      title: "Data quality",
      content: <QualityPage {...{ targets, byNode, question, silent, at, url }} chargedUntil={charged?.until} />,
    };
  });
}

interface QualityProps {
  readonly targets: readonly ScrapedTarget[];
  readonly byNode: Report;
  readonly question: ChargesQuestion;
  readonly silent: number;
  readonly at: number;
  readonly chargedUntil: number | undefined;
  readonly url: string;
}

function QualityPage({ targets, byNode, question, silent, at, chargedUntil, url }: QualityProps): VNode {
  const { bad, gone } = standingOf(targets, at);
  const newest = targets.reduce((last, { lastAt }) => Math.max(last, lastAt), 0);
  const sum = (of: (target: ScrapedTarget) => number): number => targets.reduce((total, each) => total + of(each), 0);
  return (
    <>
      <h1>Data quality</h1>
      <p class="lead">
        The age and the completeness of the data behind all figures. Held time without samples is charged as unobserved.
        It is never charged as idle and never free.
      </p>
      <dl class="figures">
        <Figure title="Newest sample" beside={newest === 0 ? "in the last hour" : "ago"}>
          {newest === 0 ? "none" : `${Math.max(0, Math.round((at - newest) / 1000))} s`}
        </Figure>
        <Figure
          title="Charged until"
          beside={chargedUntil === undefined ? "no hour of the last day" : utc(chargedUntil).slice(0, 10)}
        >
          {chargedUntil === undefined ? "–" : utc(chargedUntil).slice(11, 16)}
        </Figure>
        <div>
          <dt>Coverage of the last day</dt>
          <dd class="amount">
            <Ratio ratio={byNode.total.coverage} />
          </dd>
          <dd class="beside">
            <a href={explainAddress(question, [{ dimension: "state", values: ["unobserved"] }])}>unobserved time</a>
          </dd>
        </div>
        <Figure
          title="Scrapes of the last hour"
          beside={`${sum(({ failed }) => failed)} failed, of ${targets.length} targets`}
        >
          {String(sum(({ scrapes }) => scrapes))}
        </Figure>
        <Figure title="Silent GPUs" beside="GPUs in Kubernetes without samples">
          {String(silent)}
        </Figure>
      </dl>
      <h2>Targets that fail or are late</h2>
      <LateTargets targets={targets} bad={bad} url={url} />
      {gone.length > 0 && (
        <p class="quiet">
          {gone.length === 1 ? "One target is gone" : `${gone.length} targets are gone`}, and their nodes have other
          targets with samples, for example after a new roll-out of exporters:{" "}
          {gone
            .slice(0, MOST_GONE)
            .map(({ target }) => target)
            .join(", ")}
          {gone.length > MOST_GONE ? " and more" : ""}.
        </p>
      )}
      <h2>Nodes with gaps in the samples</h2>
      <Gaps byNode={byNode} url={url} />
      <h2>Dead letters</h2>
      <p>
        Messages that could not be processed stay on the bus with the reason. <code>gpu-ledger dead-letter list</code>{" "}
        shows them, and <code>replay</code> sends them again.
      </p>
    </>
  );
}

function LateTargets({ targets, bad, url }: LateTargetsProps): VNode {
  return targets.length === 0 ? (
    <Empty>
      <p>
        The last hour has no scrapes. <code>gpu-ledger check</code> scrapes all targets and shows the reason.
      </p>
    </Empty>
  ) : bad.length === 0 ? (
    <p>All targets were scraped on time in the last hour.</p>
  ) : (
    <Table
      caption="In the last hour"
      rows={bad}
      paging={pagingOf(url, "targets")}
      columns={[
        { head: "node", cell: ({ cluster, node }) => <a href={address("/node", { cluster, node })}>{node}</a> },
        { head: "target", cell: ({ target }) => target },
        {
          head: "failed",
          isNumber: true,
          value: ({ failed }) => failed,
          cell: ({ failed, scrapes }) => `${failed} of ${scrapes}`,
        },
        {
          head: "reason",
          cell: ({ failure, detail }) => <bdi>{failure === "" ? "late" : `${failure}: ${detail}`}</bdi>,
        },
        { head: "last scrape", cell: ({ lastAt }) => utc(lastAt) },
      ]}
    />
  );
}

interface LateTargetsProps {
  readonly targets: readonly ScrapedTarget[];
  readonly bad: readonly ScrapedTarget[];
  readonly url: string;
}

function Gaps({ byNode, url }: Pick<QualityProps, "byNode" | "url">): VNode {
  const gaps = byNode.rows
    .filter(({ coverage }) => coverage !== null && Number(coverage) < 1)
    .toSorted((a, b) => Number(a.coverage) - Number(b.coverage));
  return gaps.length === 0 ? (
    <p>All held time of the last day has samples.</p>
  ) : (
    <Table
      caption="In the last day"
      order="lowest coverage first"
      rows={gaps}
      paging={pagingOf(url, "gaps")}
      columns={[
        {
          head: "node",
          cell: ({ dimensions: { cluster, node } }) => <a href={address("/node", { cluster, node })}>{node}</a>,
        },
        {
          head: "coverage",
          isNumber: true,
          value: ({ coverage }) => Number(coverage),
          cell: ({ coverage }) => <Ratio ratio={coverage} />,
        },
        {
          head: "unobserved GPU-hours",
          ...hoursColumn(gaps, ({ stateGpuHours }) => stateGpuHours.unobserved ?? "0"),
          foot: undefined,
        },
        {
          head: byNode.currency,
          ...moneyColumn(gaps, ({ states }) => states.unobserved, byNode.currency),
          foot: undefined,
        },
      ]}
    />
  );
}
