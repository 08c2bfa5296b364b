import type { VNode } from "preact";
import { z } from "zod";
import type { ChargeState } from "../../domain/charge/charge.ts";
import { amountOf, difference, formatAmount, type Amount } from "../../domain/exact/units.ts";
import { periodOf } from "../../domain/period.ts";
import { allowed, keptPolicies, policyOf } from "../api/context.ts";
import { fixedSpan } from "../report/json.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { spanText } from "../question/span.ts";
import type { Report, ReportRow } from "../report/report.ts";
import { explainAddress, teamAddress } from "./address.ts";
import { StatesChart } from "./charts/states.tsx";
import { Figures } from "./parts/figures.tsx";
import { hoursColumn, Money, moneyColumn } from "./parts/money.tsx";
import { SpanForm } from "./parts/span-form.tsx";
import { Empty, Table } from "./parts/table.tsx";
import { readPart } from "./read-part.ts";
import type { AddPage, PageContext } from "./routes.ts";

/** What the overview shows: a span by team and by day. */
interface Overview {
  readonly question: ChargesQuestion;
  readonly byTeam: Report;
  readonly byDay: Report;
  readonly policies: readonly string[];
  /** As the address says it. */
  readonly span: string;
}

const MOST_CHANGES = 8;

/** Adds what the fleet costs, where it goes, and what has changed: the page that everything begins with. */
export function addOverview(add: AddPage, context: PageContext): void {
  const { words, ledger } = context;
  const query = z.object({ span: words.span, policy: words.policy });
  add("/", { schema: { querystring: query } }, async ({ query: asked, viewer }, edition) => {
    const { span, policy } = asked as z.output<typeof query>;
    const question = {
      policy: policyOf(ledger, policy),
      kind: "showback",
      span: fixedSpan(span.span),
      where: allowed([], viewer),
    } as const;
    const [byTeam, byDay] = await Promise.all([
      readPart(context, viewer, edition, { ...question, by: ["team"] }),
      readPart(context, viewer, edition, { ...question, by: ["chargeDay"] }),
    ]);
    const policies = keptPolicies(ledger);
    const content = <OverviewPage {...{ question, byTeam, byDay, policies, span: span.span.name }} />;
    return { title: "Overview", content };
  });
}

function OverviewPage({ question, byTeam, byDay, policies, span }: Overview): VNode {
  const { total, rows, currency } = byTeam;
  const form = <SpanForm path="/" span={span} policies={policies} policy={question.policy} />;
  if (rows.length === 0)
    return (
      <>
        <h1>Nothing is charged yet in {spanText(question.span)}</h1>
        {form}
        <Empty>
          <p>
            Hours are charged some minutes after they end, once their samples are in. <a href="/fleet">The fleet</a>{" "}
            shows what is measured now; <a href="/periods">the periods</a> show which months have charges.
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
        in {titleOfSpan(byTeam)}
      </h1>
      <p class="lead">{standing(byTeam)}</p>
      {form}
      <Figures report={byTeam} question={question} />
      <h2>From what it costs to what it does</h2>
      <Funnel report={byTeam} question={question} />
      <h2>Day by day</h2>
      <StatesChart
        columns={byDay.rows
          .toSorted((a, b) => (a.dimensions["chargeDay"]! < b.dimensions["chargeDay"]! ? -1 : 1))
          .map(({ dimensions, states }) => ({ name: dimensions["chargeDay"]!.slice(5), states }))}
        label={`Cost of each day in ${currency}, by the state of the GPUs.`}
      />
      <h2>By team</h2>
      <Teams report={byTeam} question={question} span={span} />
      {byTeam.comparedWith !== null && <Changes report={byTeam} question={question} span={span} />}
      <p class="links">
        <a href={`/api/v1/charges?span=${encodeURIComponent(span)}&format=csv`}>These figures as CSV</a>
        <a href={`/api/v1/charges?span=${encodeURIComponent(span)}`}>as JSON</a>
        <a href="/statement">The month's statement</a>
      </p>
    </>
  );
}

function titleOfSpan({ span }: Report): string {
  const month = periodOf(span.from);
  const isMonth = month.from === span.from && month.until === span.until;
  if (!isMonth) return spanText(span);
  return new Date(span.from).toLocaleDateString("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });
}

function standing({ policy, span, chargedUntil }: Report): string {
  const until = chargedUntil ?? span.from;
  const part =
    until < span.until
      ? `as far as it is charged, until ${new Date(until).toISOString().slice(0, 16).replace("T", " ")} UTC`
      : "whole";
  return `Under the policy ${policy}, ${part}.`;
}

interface Part {
  readonly report: Report;
  readonly question: ChargesQuestion;
}

/** Total, of it allocated, of it active; and what is paid for nothing. */
function Funnel({ report: { total, currency }, question }: Part): VNode {
  const { states, cost } = total;
  const held = sumOf(states, ["active", "idle", "waiting", "starting", "unobserved"]);
  const forNothing = formatAmount(difference(amountOf<"currency">(cost), amountOf<"currency">(states.active ?? "0")));
  const ofStates = (names: readonly string[]): string =>
    explainAddress(question, [{ dimension: "state", values: names }]);
  const steps = [
    { name: "The fleet", amount: cost, href: explainAddress(question), what: "all that it costs" },
    {
      name: "Allocated",
      amount: held,
      href: ofStates(["active", "idle", "waiting", "starting", "unobserved"]),
      what: "held by workloads",
    },
    { name: "Active", amount: states.active ?? "0", href: ofStates(["active"]), what: "used, as measured" },
    {
      name: "Paid for nothing",
      amount: forNothing,
      href: explainAddress(question),
      what: "idle, waiting, unobserved, free or away",
    },
  ];
  return (
    <ol class="funnel">
      {steps.map(({ name, amount, href, what }) => (
        <li>
          <span>
            <strong>{name}</strong> <span class="quiet">{what}</span>
          </span>
          <a class="number" href={href}>
            <Money amount={amount} currency={currency} />
          </a>
          <svg
            viewBox="0 0 100 8"
            preserveAspectRatio="none"
            role="img"
            aria-label={`${percentOf(amount, cost)} of the cost`}
          >
            <rect
              width={widthOf(amount, cost)}
              height="8"
              fill={name === "Paid for nothing" ? "var(--idle)" : "var(--active)"}
            />
          </svg>
        </li>
      ))}
    </ol>
  );
}

function sumOf(states: Report["total"]["states"], names: readonly (keyof Report["total"]["states"])[]): string {
  const sum = names.reduce<bigint>((total, name) => total + amountOf<"currency">(states[name] ?? "0"), 0n);
  return formatAmount(sum as Amount<"currency">);
}

function widthOf(part: string, whole: string): number {
  return Math.max(0, Math.min(100, (Number(part) / Number(whole)) * 100 || 0));
}

function percentOf(part: string, whole: string): string {
  return `${widthOf(part, whole).toFixed(1)} %`;
}

function Teams({ report, question, span }: Part & { readonly span: string }): VNode {
  const { rows, total, currency } = report;
  const cost = moneyColumn(rows, (row) => row.cost, currency);
  const ofTeam = (row: ReportRow) => [{ dimension: "team", values: [row.dimensions["team"]!] }];
  const state = (name: ChargeState) => moneyColumn(rows, ({ states }) => states[name], currency);
  return (
    <Table
      caption={`What each team pays in ${currency}; the dearest first`}
      rows={rows}
      columns={[
        { head: "team", cell: ({ dimensions }) => <TeamLink team={dimensions["team"]!} span={span} />, foot: "all" },
        { head: "GPU-hours", ...hoursColumn(rows, ({ gpuHours }) => gpuHours) },
        { head: "cost", ...cost, cell: (row) => <a href={explainAddress(question, ofTeam(row))}>{cost.cell(row)}</a> },
        ...(["active", "idle", "unobserved"] as const).map((name) => ({ head: name, ...state(name) })),
        {
          head: "each held GPU-hour",
          isNumber: true,
          cell: ({ costPerHeldGpuHour: each }) => <PerHour each={each} currency={currency} />,
          foot: <PerHour each={total.costPerHeldGpuHour} currency={currency} />,
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

function PerHour({ each, currency }: { readonly each: string | null; readonly currency: string }): VNode {
  return each === null ? <span class="quiet">–</span> : <Money amount={each} currency={currency} />;
}

/** The teams whose cost has changed most since the time before. */
function Changes({ report, span }: Part & { readonly span: string }): VNode {
  const { rows, currency, comparedWith } = report;
  const size = ({ change }: ReportRow): number => Math.abs(Number(change ?? "0"));
  const changed = rows.filter((row) => size(row) > 0).toSorted((a, b) => size(b) - size(a));
  return (
    <>
      <h2>What has changed</h2>
      <Table
        caption={`Against ${comparedWith!.name}, in ${currency}; the largest changes first`}
        rows={changed.slice(0, MOST_CHANGES)}
        columns={[
          { head: "team", cell: ({ dimensions }) => <TeamLink team={dimensions["team"]!} span={span} /> },
          {
            head: "before",
            isNumber: true,
            cell: ({ before }) => <Money amount={before ?? "0"} currency={currency} />,
          },
          { head: "now", isNumber: true, cell: ({ cost }) => <Money amount={cost} currency={currency} /> },
          {
            head: "change",
            isNumber: true,
            cell: ({ change }) => <Money amount={change ?? "0"} currency={currency} isSigned />,
          },
        ]}
      />
    </>
  );
}
