import type { VNode } from "preact";
import { z } from "zod";
import { hoursIn, isBehind } from "../../domain/charge/settling.ts";
import { counted } from "../../domain/counted.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { allowed, keptPolicies, policyOf } from "../api/context.ts";
import { fixedSpan } from "../report/json.ts";
import type { ChargesQuestion, Filter } from "../question/question.ts";
import type { Report, ReportRow } from "../report/report.ts";
import { address, changeAddress, explainAddress, teamAddress } from "../parts/address.ts";
import { DaysChart } from "../parts/charts/states.tsx";
import { TeamsChart } from "../parts/charts/teams.tsx";
import { Figures } from "../parts/figures.tsx";
import { NeedsAnswer } from "../parts/needs-answer.tsx";
import { readPeriods, type Period } from "../read/periods.ts";
import { Guide } from "../parts/guide.tsx";
import { Funnel } from "../parts/funnel.tsx";
import { changeColumn, explained, Money, moneyColumn, TREND } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { LargestCards } from "../parts/largest-cards.tsx";
import { chargeColumns } from "../parts/charge-columns.tsx";
import { SpanForm } from "../parts/span-form.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { spanTitle, utc } from "../parts/time.ts";
import { seesAll } from "../access/viewer.ts";
import { readBeginning, type Beginning } from "../read/beginning.ts";
import { readLargestCards, type LargestCards as Advice } from "../advice/read-cards.ts";
import { readParts } from "../api/read-part.ts";
import type { AddPage, PageContext } from "./context.ts";

/** The data of the overview: a span by team and by day. */
interface Overview {
  readonly question: ChargesQuestion;
  readonly byTeam: Report;
  readonly byDay: Report;
  readonly policies: readonly string[];
  /** The span as in the address. */
  readonly span: string;
  readonly chart: (typeof CHARTS)[number];
  /** The billing periods; none for a viewer of some teams, who cannot close them. */
  readonly periods: readonly Period[];
  /** The paging of the teams. */
  readonly paging: Paging;
  /** The starts of hours of the span that wait to be charged; none if these are as few as usual. */
  readonly hoursWaiting: readonly number[];
  /** Undefined without cards. */
  readonly advice: Advice | undefined;
  /** The data before the first charge; undefined if there are charges, or if the viewer may not see all of it. */
  readonly beginning: Beginning | undefined;
  readonly isListPriced: boolean;
  readonly now: number;
}

const MOST_CHANGES = 8;
const MOST_CARDS = 3;
/** The parts of a day's cost in the chart. */
const CHARTS = ["state", "team"] as const;

/** Adds the first page: the cost of the fleet, its parts, and its changes. */
export function addOverview(add: AddPage, context: PageContext): void {
  const { words, ledger } = context;
  const query = z.object({
    span: words.span,
    policy: words.policy,
    chart: z.enum(CHARTS).default("state"),
    compare: words.compare,
  });
  add("/", { schema: { querystring: query } }, async ({ query: asked, viewer, url }, asking) => {
    const { span, policy, chart, compare } = asked as z.output<typeof query>;
    const question = {
      policy: policyOf(ledger, policy),
      kind: "showback",
      span: fixedSpan(span.span),
      where: allowed([], viewer),
      compared: compare && fixedSpan(compare.span),
    } as const;
    const byChart = chart === "team" ? ["chargeDay", "team"] : ["chargeDay"];
    const closing = { closingDay: ledger.closing.day, now: context.now() };
    const [reports, advice, periods] = await Promise.all([
      readParts(context, asking, question, [["team"], byChart]),
      readLargestCards(asking.store, { teams: viewer.teams, now: context.now() }, { limit: MOST_CARDS }),
      seesAll(viewer) ? readPeriods(asking.store, closing) : [],
    ]);
    const [byTeam, byDay] = [reports[0]!, reports[1]!];
    const isNew = byTeam.rows.length === 0 && seesAll(viewer);
    const beginning = isNew ? await readBeginning(asking.store, context.now()) : undefined;
    const policies = keptPolicies(ledger);
    const paging = pagingOf(url, "teams");
    const waiting = hoursIn(context.hoursWaiting(), question.span);
    const content = (
      <OverviewPage
        {...{ question, byTeam, byDay, policies, span: span.span.name, chart, paging, advice, beginning, periods }}
        isListPriced={ledger.book.isList === true}
        now={context.now()}
        hoursWaiting={isBehind(waiting) ? waiting : []}
      />
    );
    return { title: "Overview", content };
  });
}

function OverviewPage(overview: Overview): VNode {
  const { question, byTeam, byDay, policies, span, chart, periods, paging } = overview;
  const { hoursWaiting, advice, beginning, isListPriced, now } = overview;
  const { total, rows, currency } = byTeam;
  if (beginning !== undefined)
    return (
      <>
        <h1>Nothing is charged yet</h1>
        <p class="lead">The way to the first charges, as of {utc(now)}:</p>
        <Guide beginning={beginning} isListPriced={isListPriced} now={now} />
      </>
    );
  const compared = question.compared?.name ?? "";
  const form = <SpanForm path="/" {...{ span, policies, compared }} policy={question.policy} keep={{ chart }} />;
  if (rows.length === 0)
    return (
      <>
        <h1>No charges yet in {spanTitle(question.span)}</h1>
        <Waiting hours={hoursWaiting} />
        {form}
        <Empty>
          <p>
            <a href="/periods">The periods</a> show the months that have charges, and <a href="/fleet">the fleet</a> the
            current samples.
          </p>
        </Empty>
      </>
    );
  return (
    <>
      <h1>
        <a href={explainAddress(question)}>
          <Money amount={total.cost} currency={currency} /> {currency}
        </a>{" "}
        in {spanTitle(question.span)}
      </h1>
      <p class="lead">{standing(byTeam, hoursWaiting.length > 0)}</p>
      <Waiting hours={hoursWaiting} />
      {form}
      <Figures report={byTeam} question={question} />
      <h2>From total cost to active cost</h2>
      <Funnel report={byTeam} question={question} />
      <NeedsAnswer report={byTeam} span={span} periods={periods} now={now} />
      {advice !== undefined && <LargestCards advice={advice} currency={currency} />}
      <h2>Day by day</h2>
      <nav class="links tabs" aria-label="Parts of the chart">
        {CHARTS.map((name) => (
          <a
            href={address("/", { span, policy: question.policy, compare: compared, chart: name })}
            {...(name === chart ? { "aria-current": "true" as const } : {})}
          >
            by {name}
          </a>
        ))}
      </nav>
      {chart === "team" ? <TeamsChart byDay={byDay} /> : <DaysChart byDay={byDay} />}
      <h2>By team</h2>
      <Teams report={byTeam} question={question} span={span} paging={paging} />
      {byTeam.comparedWith !== null && <Changes report={byTeam} question={question} span={span} />}
      <p class="links">
        <a href={`/api/v1/charges?span=${encodeURIComponent(span)}`}>These figures by the API</a>
        <a href="/statement">Statement of the month</a>
      </p>
    </>
  );
}

/** A notice that the figures will still grow, if more hours wait than usual. */
function Waiting({ hours }: { readonly hours: readonly number[] }): VNode | null {
  if (hours.length === 0) return null;
  const [from, until] = [Math.min(...hours), Math.max(...hours) + HOUR_MILLIS];
  return (
    <div class="notice">
      <p>
        <strong>{counted(hours.length, "hour")} of this time wait to be charged</strong>, from {utc(from)} to{" "}
        {utc(until)}. Their samples are stored. The ledger meters and charges them, newest first, and the figures grow
        until then.
      </p>
    </div>
  );
}

function standing({ policy, span, chargedUntil }: Report, isWaiting: boolean): string {
  const until = chargedUntil ?? span.from;
  const charged = `charged until ${new Date(until).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const part = until < span.until ? charged : isWaiting ? "not complete" : "complete";
  return `Policy ${policy}; ${part}.`;
}

interface Part {
  readonly report: Report;
  readonly question: ChargesQuestion;
}

function Teams({ report, question, span, paging }: Part & Pick<Overview, "span" | "paging">): VNode {
  const { rows, total, currency } = report;
  const explain = (row?: ReportRow, more: readonly Filter[] = []): string =>
    explainAddress(question, [...ofTeam(row), ...more]);
  return (
    <Table
      caption={`Cost by team (${currency}, the last row with GPU time that nobody held, divided by the held GPU-hours)`}
      order="highest first"
      rows={rows}
      paging={paging}
      columns={[
        {
          head: "team",
          value: ({ dimensions }) => dimensions["team"]!,
          cell: ({ dimensions }) => <TeamLink team={dimensions["team"]!} span={span} />,
          foot: "all",
        },
        ...chargeColumns(rows, currency, explain),
        {
          head: "per held GPU-hour",
          value: ({ costPerHeldGpuHour }) => Number(costPerHeldGpuHour ?? 0),
          isNumber: true,
          cell: (row) => <PerHour each={row.costPerHeldGpuHour} currency={currency} to={explain(row)} />,
          foot: <PerHour each={total.costPerHeldGpuHour} currency={currency} to={explain()} />,
        },
      ]}
    />
  );
}

function TeamLink({ team, span }: { readonly team: string; readonly span: string }): VNode {
  return (
    <a href={teamAddress(team, span)}>
      <bdi>{team}</bdi>
    </a>
  );
}

/** Returns the condition of a row's team; none without a row. */
function ofTeam(row: ReportRow | undefined): readonly Filter[] {
  return row === undefined ? [] : [{ dimension: "team", values: [row.dimensions["team"]!] }];
}

function PerHour({ each, currency, to }: PerHourProps): VNode {
  if (each === null) return <span class="quiet">–</span>;
  return (
    <a href={to}>
      <Money amount={each} currency={currency} />
    </a>
  );
}

interface PerHourProps {
  readonly each: string | null;
  readonly currency: string;
  readonly to: string;
}

/** The teams whose cost has changed most since the time before. */
function Changes({ report, question, span }: Part & { readonly span: string }): VNode {
  const { rows, currency, comparedWith } = report;
  const size = ({ change }: ReportRow): number => Math.abs(Number(change ?? "0"));
  const changed = rows.filter((row) => size(row) > 0).toSorted((a, b) => size(b) - size(a));
  const explain = (row?: ReportRow): string => explainAddress(question, ofTeam(row));
  const explainBefore = (row?: ReportRow): string =>
    explainAddress({ ...question, kind: "showback", span: comparedWith! }, ofTeam(row));
  const why = (row?: ReportRow): string => changeAddress({ ...question, where: [...question.where, ...ofTeam(row)] });
  return (
    <>
      <h2>Changes</h2>
      <Table
        caption={`Compared with ${spanTitle(comparedWith!)} (${currency})`}
        order="largest change first"
        rows={changed.slice(0, MOST_CHANGES)}
        columns={[
          {
            head: "team",
            cell: ({ dimensions }) => <TeamLink team={dimensions["team"]!} span={span} />,
            foot: changed.length > MOST_CHANGES ? "all, with further teams" : "all",
          },
          { head: "before", ...explained(moneyColumn(rows, TREND.before, currency), explainBefore) },
          { head: "now", ...explained(moneyColumn(rows, TREND.now, currency), explain) },
          { head: "change", ...explained(changeColumn(rows, TREND, currency), why) },
        ]}
      />
    </>
  );
}
