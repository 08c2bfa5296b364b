import type { VNode } from "preact";
import { CARD_KINDS, confidenceOf } from "../../domain/advice/card.ts";
import { perMonth } from "../../domain/advice/card-json.ts";
import { counted } from "../../domain/counted.ts";
import { CHARGE_STATES } from "../../domain/charge/charge.ts";
import { LIST_PRICED } from "../../runtime/config/list-prices.ts";
import { formatAmount, type Money as Exact } from "../../domain/exact/units.ts";
import { momentText } from "../../domain/time.ts";
import { subjectText } from "../advice/text.ts";
import { loadCharts } from "../parts/charts/chart.tsx";
import { DaysChart } from "../parts/charts/states.tsx";
import { cardAddress } from "../parts/cards.tsx";
import { Figures } from "../parts/figures.tsx";
import { Funnel } from "../parts/funnel.tsx";
import { Link, LinksTo } from "../parts/link.tsx";
import { changeColumn, hoursColumn, Money, moneyColumn, Ratio, TREND } from "../parts/money.tsx";
import { Table, type Column } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import { explainAddress } from "../parts/address.ts";
import { fileHtml } from "./file-html.tsx";
import { titleOfDimension } from "../question/question.ts";
import type { LargestCards, StoredCard } from "../advice/read-cards.ts";
import type { Report, ReportRow } from "../report/report.ts";

/** A report in a document, and the same report by day if its rows have no time. */
export interface DocumentPart {
  readonly report: Report;
  readonly byDay: Report | undefined;
}

/** The properties of a document. */
export interface DocumentOf {
  readonly version: string;
  /** The time of creation, milliseconds since the epoch. */
  readonly madeAt: number;
  /** The server that explains the figures, `https://gpu-ledger.example`; undefined if it is unknown. */
  readonly server: string | undefined;
  /** The largest cards of the newest advice, under the reports. */
  readonly advice?: LargestCards | undefined;
}

/** Returns reports of one span, one for each policy, as one HTML file that loads nothing and prints like a statement. */
export async function documentHtml(parts: readonly [DocumentPart, ...DocumentPart[]], of: DocumentOf): Promise<string> {
  await loadCharts();
  const [{ report }] = parts;
  return fileHtml(
    titleOf(report),
    <LinksTo server={of.server}>
      {parts.map((part) => (
        <Section {...part} />
      ))}
      {of.advice !== undefined && <Advice {...of.advice} />}
      <p class="quiet">
        Made by gpu-ledger {of.version} on {utc(of.madeAt)}. Amounts are rounded so that every column adds up. The
        file’s <code>data</code> elements and the other formats of the same report have the exact amounts.
      </p>
    </LinksTo>,
  );
}

function titleOf({ kind, span }: Report): string {
  return `${kind === "chargeback" ? "Chargeback" : "Showback"} of ${span.name}`;
}

function Section({ report, byDay }: DocumentPart): VNode {
  const { policy, span, total, currency, prices, chargedUntil, where, rows } = report;
  const question = { policy, kind: report.kind, span, where };
  const isPart = chargedUntil === null || chargedUntil < span.until;
  const conditions = where.map(({ dimension, values }) => `${titleOfDimension(dimension)}: ${values.join(" or ")}`);
  return (
    <section class={prices === "list" ? "list-prices" : undefined}>
      <h1>
        {titleOf(report)}: <Money amount={total.cost} currency={currency} /> {currency}
      </h1>
      <p class="lead">
        Policy {policy}{" "}
        {isPart ? (chargedUntil === null ? "; not charged yet" : `; charged until ${utc(chargedUntil)}`) : ""}.{" "}
        {conditions.length === 0 ? "" : `Only ${conditions.join("; ")}. `}
        Exactly <code>{total.cost}</code> {currency} for <code>{total.gpuHours}</code> GPU-hours.
        {prices === "list" && ` ${LIST_PRICED}`}
      </p>
      <Figures report={report} question={question} />
      {rows.length === 0 ? (
        <p>No charges.</p>
      ) : (
        <>
          <h2>From total cost to active cost</h2>
          <Funnel report={report} question={question} />
          {byDay !== undefined && byDay.rows.length > 1 && (
            <>
              <h2>Day by day</h2>
              <DaysChart byDay={byDay} />
            </>
          )}
          <h2>By {report.by.map(titleOfDimension).join(" and ")}</h2>
          <Rows report={report} />
        </>
      )}
    </section>
  );
}

function Rows({ report }: { readonly report: Report }): VNode {
  const { rows, total, by, currency, comparedWith, policy, kind, span, where } = report;
  const explained = ({ dimensions }: ReportRow): string =>
    explainAddress(
      { policy, kind, span, where },
      by.map((dimension) => ({ dimension, values: [dimensions[dimension]!] })),
    );
  const [first, ...others] = by.map((name, index): Column<ReportRow> => ({
    head: titleOfDimension(name),
    cell: ({ dimensions }) => <bdi>{dimensions[name]}</bdi>,
    ...(index === 0 ? { foot: "all" } : {}),
  }));
  const cost = moneyColumn(rows, (row) => row.cost, currency);
  const states = by.includes("state") ? [] : CHARGE_STATES.filter((state) => total.states[state] !== undefined);
  return (
    <Table
      caption={`Amounts in ${currency} (highest cost first)`}
      rows={rows}
      columns={[
        first ?? { head: "", cell: () => "all" },
        ...others,
        { head: "GPU-hours", ...hoursColumn(rows, ({ gpuHours }) => gpuHours) },
        { head: "cost", ...cost, cell: (row) => <Link to={explained(row)}>{cost.cell(row)}</Link> },
        ...states.map((state) => ({ head: state, ...moneyColumn(rows, (row) => row.states[state], currency) })),
        { head: "coverage", isNumber: true, cell: ({ coverage }) => <Ratio ratio={coverage} /> },
        ...(comparedWith === null ? [] : [{ head: "change", ...changeColumn(rows, TREND, currency) }]),
      ]}
    />
  );
}

function Advice({ cards, count, owner, organizationIfFreedLeave, run }: LargestCards): VNode {
  const [{ card: first }] = cards as [StoredCard, ...StoredCard[]];
  const { currency } = first;
  const days = `${momentText(run.window.from)} to ${momentText(run.window.until)} (UTC)`;
  const month = (saving: Exact): VNode => (
    <Money amount={formatAmount(perMonth(saving, run.window))} currency={currency} />
  );
  return (
    <section>
      <h2>What would save most</h2>
      <p>
        {counted(count, "card")} from the usage of {days}. The organization can save {month(organizationIfFreedLeave)}{" "}
        {currency} a month if freed GPUs leave the fleet; the owners would pay {month(owner)} {currency} less.
      </p>
      <Table
        caption={`The largest savings (${currency} less for the owner per month, highest first)`}
        rows={cards}
        columns={[
          {
            head: "finding",
            isWhole: true,
            cell: ({ card }) => <Link to={cardAddress(card.id)}>{CARD_KINDS[card.kind]}</Link>,
          },
          { head: "of", cell: ({ card }) => <bdi>{subjectText(card)}</bdi> },
          { head: "team", cell: ({ card }) => <bdi>{card.subject.team}</bdi> },
          {
            head: "per month",
            isNumber: true,
            cell: ({ card }) => (
              <Money amount={formatAmount(perMonth(card.saving.owner, card.window))} currency={currency} />
            ),
          },
          { head: "change", cell: ({ card }) => card.remedy.what },
          { head: "sure", cell: ({ card }) => confidenceOf(card) },
        ]}
      />
    </section>
  );
}
