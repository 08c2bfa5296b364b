import type { VNode } from "preact";
import { z } from "zod";
import { CHARGE_STATES } from "../../domain/charge/charge.ts";
import { seesAll } from "../access/viewer.ts";
import { allowed, keptPolicies, policyOf } from "../api/context.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { readStatements, type MonthStatements, type Statement } from "../read/statements.ts";
import { address, explainAddress } from "../parts/address.ts";
import { hoursColumn, Money, moneyColumn, Ratio } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the pages of a month's statements and of each statement: exact figures, posted amounts, and the hash of the closed statement. */
export function addStatement(add: AddPage, { words, ledger, sums }: PageContext): void {
  const query = z.object({
    period: words.period,
    policy: words.policy,
    team: z.string().max(500).optional(),
    costCenter: z.string().max(500).optional(),
  });
  add(
    "/statement",
    { schema: { querystring: query } },
    async ({ query: asked, viewer, url }, { ledgerVersion, store }) => {
      const { period, team, costCenter, ...of } = asked as z.output<typeof query>;
      const policy = policyOf(ledger, of.policy);
      const where = [
        ...(team === undefined ? [] : [{ dimension: "team", values: [team] }]),
        ...(costCenter === undefined ? [] : [{ dimension: "costCenter", values: [costCenter] }]),
      ];
      const month = await readStatements(
        store,
        { period, policy, where: allowed(where, viewer) },
        ledger.book.currency,
        sums.at(ledgerVersion),
      );
      const question = { policy, kind: "chargeback", span: period, where } as const;
      const [only] = month.statements;
      const form = <PeriodForm period={period.name} policies={keptPolicies(ledger)} policy={policy} />;
      const canClose = month.closed === null && month.statements.length > 0 && seesAll(viewer);
      const content =
        team !== undefined && month.statements.length === 1 ? (
          <OneStatement {...{ month, statement: only!, question }} />
        ) : (
          <AllStatements {...{ month, question, form, canClose, paging: pagingOf(url, "statements") }} />
        );
      return { title: `Statement of ${period.name}`, content };
    },
  );
}

interface PeriodFormProps {
  readonly period: string;
  readonly policies: readonly string[];
  readonly policy: string;
}

function PeriodForm({ period, policies, policy }: PeriodFormProps): VNode {
  return (
    <form class="view" method="get" action="/statement">
      <label>
        Month
        <input type="month" name="period" value={period} required pattern="\d{4}-\d{2}" />
      </label>
      {policies.length > 1 && (
        <label>
          Policy
          <select name="policy">
            {policies.map((name) => (
              <option value={name} selected={name === policy}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <button type="submit">Show</button>
    </form>
  );
}

function standing({ closed, policy, statements }: MonthStatements): string {
  if (closed === null && statements.length === 0) return `Policy ${policy}.`;
  const state =
    closed === null
      ? "the month is open, and its figures can change"
      : `closed by ${closed.by} on ${utc(Date.parse(closed.at))}: its figures are final`;
  return `Policy ${policy}; ${state}.`;
}

interface MonthProps {
  readonly month: MonthStatements;
  readonly question: ChargesQuestion;
}

interface AllProps extends MonthProps {
  readonly form: VNode;
  /** True if the viewer may close the month, and it is open. */
  readonly canClose: boolean;
  readonly paging: Paging;
}

function AllStatements({ month, question, form, canClose, paging }: AllProps): VNode {
  const { billingPeriod, currency, total, statements, closed } = month;
  const cost = moneyColumn(statements, (statement) => statement.cost, currency);
  const isPosted = statements.some(({ posted }) => posted !== null);
  const posted = moneyColumn(statements, (statement) => statement.posted ?? undefined, currency);
  return (
    <>
      <h1>
        Statement of {billingPeriod}: <Money amount={total.cost} currency={currency} /> {currency}
      </h1>
      <p class="lead">{standing(month)}</p>
      {form}
      {statements.length === 0 ? (
        <Empty>
          <p>
            No charges are booked in {billingPeriod}. <a href="/periods">The periods</a> show the months that have
            charges.
          </p>
        </Empty>
      ) : (
        <Table
          caption={`By team and cost center (${currency})${closed === null ? "" : ". Posted amounts add up in minor units."}`}
          rows={statements}
          paging={paging}
          columns={[
            {
              head: "team",
              cell: ({ team, costCenter }) => (
                <a href={address("/statement", { period: billingPeriod, team, costCenter, policy: month.policy })}>
                  <bdi>{team}</bdi>
                </a>
              ),
              foot: "all",
            },
            { head: "cost center", cell: ({ costCenter }) => <bdi>{costCenter}</bdi> },
            { head: "GPU-hours", ...hoursColumn(statements, ({ gpuHours }) => gpuHours) },
            {
              head: "cost",
              ...cost,
              cell: (row) => <a href={explainedBy(question, row)}>{cost.cell(row)}</a>,
            },
            { head: "corrections", ...moneyColumn(statements, ({ corrections }) => corrections, currency) },
            ...(isPosted ? [{ head: "posted", ...posted }] : []),
            {
              head: "coverage",
              isNumber: true,
              value: ({ coverage }) => Number(coverage ?? 0),
              cell: ({ coverage }) => <Ratio ratio={coverage} />,
            },
          ]}
        />
      )}
      {canClose && (
        <p class="links">
          <a href={address("/statement/close", { period: billingPeriod })}>Preview and close {billingPeriod}</a>
        </p>
      )}
      <Formats period={billingPeriod} policy={month.policy} />
    </>
  );
}

function OneStatement({ month, statement, question }: MonthProps & { readonly statement: Statement }): VNode {
  const { billingPeriod, currency, policy } = month;
  const { team, costCenter, cost, posted, hash, states, stateGpuHours, list, contracted, corrections, coverage } =
    statement;
  const rows = CHARGE_STATES.filter((state) => states[state] !== undefined || stateGpuHours[state] !== undefined);
  return (
    <>
      <h1>
        <bdi>{costCenter === "" ? team : `${team} / ${costCenter}`}</bdi>, {billingPeriod}
      </h1>
      <p class="lead">{standing(month)}</p>
      <p>
        {posted === null ? null : (
          <>
            Posted: <strong>{posted}</strong> {currency}.{" "}
          </>
        )}
        Exactly{" "}
        <a href={explainedBy(question, statement)}>
          {cost} {currency}
        </a>{" "}
        for {statement.gpuHours} GPU-hours. List cost: {list}. Contracted cost: {contracted}. Included corrections of
        earlier months: {corrections}. GPU-hours without a price and cost: {statement.unpricedGpuHours}. Coverage of
        held time: <Ratio ratio={coverage} />.
      </p>
      <Table
        caption={`Exact figures by state (${currency})`}
        rows={rows}
        columns={[
          {
            head: "state",
            cell: (state) => (
              <a
                href={explainAddress({
                  ...question,
                  where: [...ofPayer(statement), { dimension: "state", values: [state] }],
                })}
              >
                {state}
              </a>
            ),
            foot: "all",
          },
          {
            head: "GPU-hours",
            isNumber: true,
            cell: (state) => stateGpuHours[state] ?? "0",
            foot: statement.gpuHours,
          },
          { head: "cost", isNumber: true, cell: (state) => states[state] ?? "0", foot: cost },
        ]}
      />
      {hash !== null && (
        <p>
          SHA-256 of the closed statement: <span class="hash">{hash}</span>
        </p>
      )}
      <Formats period={billingPeriod} policy={policy} team={team} />
      <p class="links">
        <a href={address("/statement", { period: billingPeriod, policy })}>All statements of the month</a>
        <a href={address("/team", { team, span: billingPeriod })}>The month of the team</a>
      </p>
    </>
  );
}

function ofPayer({ team, costCenter }: Pick<Statement, "team" | "costCenter">) {
  return [
    { dimension: "team", values: [team] },
    { dimension: "costCenter", values: [costCenter] },
  ];
}

function explainedBy(question: ChargesQuestion, statement: Statement): string {
  return explainAddress({ ...question, where: ofPayer(statement) });
}

/** Links to the same figures for programs and spreadsheets: sums and every line. */
function Formats({ period, policy, team }: FormatsProps): VNode {
  const of = { span: period, kind: "chargeback", policy, where: team === undefined ? undefined : `team=${team}` };
  const sums = (format: string): string => address("/api/v1/charges", { ...of, by: "team,costCenter", format });
  const lines = (format: string): string => address("/api/v1/charges/lines", { ...of, format });
  return (
    <p class="links">
      <span class="quiet">Sums:</span>
      <a href={address("/api/v1/statements", { period, policy, team })}>JSON</a>
      <a href={sums("csv")}>CSV</a>
      <a href={sums("ndjson")}>NDJSON</a>
      <a href={sums("parquet")}>Parquet</a>
      <a href={sums("html")}>HTML</a>
      <a href={sums("pdf")}>PDF</a>
      <a href={address("/api/v1/focus", of)}>FOCUS</a>
      <span class="quiet">Every line:</span>
      <a href={lines("csv")}>CSV</a>
      <a href={lines("ndjson")}>NDJSON</a>
      <a href={lines("parquet")}>Parquet</a>
    </p>
  );
}

interface FormatsProps {
  readonly period: string;
  readonly policy: string;
  readonly team?: string;
}
