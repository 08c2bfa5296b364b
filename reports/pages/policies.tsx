import type { VNode } from "preact";
import { z } from "zod";
import { allowed, keptPolicies } from "../api/context.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { fixedSpan } from "../report/json.ts";
import { provisionalSentence } from "../report/provisional.ts";
import type { Report } from "../report/report.ts";
import { explainAddress, teamAddress } from "../parts/address.ts";
import { changeColumn, moneyColumn } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { SpanForm } from "../parts/span-form.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { readPart } from "../api/read-part.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the page with the cost of each team under every kept policy, side by side. */
export function addPolicies(add: AddPage, context: PageContext): void {
  const query = z.object({ span: context.words.span });
  add("/policies", { schema: { querystring: query } }, async ({ query: asked, viewer, url }, asking) => {
    const { span } = asked as z.output<typeof query>;
    const of = { kind: "showback", span: fixedSpan(span.span), where: allowed([], viewer) } as const;
    const reports = await Promise.all(
      keptPolicies(context.ledger).map((policy) => readPart(context, asking, { ...of, policy, by: ["team"] })),
    );
    const { policies } = context.ledger;
    const kept = keptPolicies(context.ledger);
    const provisional = provisionalSentence(policies.filter(({ name }) => kept.includes(name)));
    const view = { reports, question: of, span: span.span.name, paging: pagingOf(url, "teams"), provisional };
    return { title: "Policies", content: <PoliciesPage {...view} /> };
  });
}

interface PoliciesProps {
  readonly reports: readonly Report[];
  readonly question: Omit<ChargesQuestion, "policy">;
  readonly span: string;
  readonly paging: Paging;
  /** A sentence about the provisional part. */
  readonly provisional: string | undefined;
}

interface TeamRow {
  readonly team: string;
  /** The costs by policy, in their order. */
  readonly costs: readonly string[];
}

function PoliciesPage({ reports, question, span, paging, provisional }: PoliciesProps): VNode {
  const { currency } = reports[0]!;
  const rows = rowsOf(reports);
  return (
    <>
      <h1>Policies side by side</h1>
      <p class="lead">
        The cost of the same GPU-hours for each team under each policy. All policies have the same total: the cost of
        the fleet.
      </p>
      <SpanForm path="/policies" span={span} policies={[]} policy="" />
      {reports.length === 1 && (
        <p>
          The ledger keeps the charges of one policy, <strong>{reports[0]!.policy}</strong>. To compare it with another
          one, set <code>keep: true</code> for that policy under <code>policies</code>. The comparison begins at that
          time. <code>gpu-ledger bill</code> computes a month under any policy.
        </p>
      )}
      {provisional !== undefined && <p>{provisional}</p>}
      {rows.length === 0 ? (
        <Empty>
          <p>
            No charges in {question.span.name}. <a href="/periods">The periods</a> show the time until which the ledger
            is charged.
          </p>
        </Empty>
      ) : (
        <Table
          caption={`By team (${currency})`}
          rows={rows}
          paging={paging}
          columns={[
            {
              head: "team",
              cell: ({ team }) => (
                <a href={teamAddress(team, span)}>
                  <bdi>{team}</bdi>
                </a>
              ),
              foot: "all",
            },
            ...reports.flatMap(({ policy }, index) => {
              const column = moneyColumn(rows, ({ costs }) => costs[index], currency);
              const cost = {
                head: policy,
                ...column,
                cell: (row: TeamRow) => (
                  <a href={explainAddress({ ...question, policy, where: [{ dimension: "team", values: [row.team] }] })}>
                    {column.cell(row)}
                  </a>
                ),
              };
              if (index === 0) return [cost];
              const costs = {
                now: ({ costs }: TeamRow): string => costs[index]!,
                before: ({ costs }: TeamRow): string => costs[0]!,
              };
              const difference = {
                head: `difference to ${reports[0]!.policy}`,
                ...changeColumn(rows, costs, currency),
              };
              return [cost, difference];
            }),
          ]}
        />
      )}
    </>
  );
}

/** Returns each team with charges under any policy, in the order of the first policy, then in order of appearance. */
function rowsOf(reports: readonly Report[]): readonly TeamRow[] {
  const found = reports.map(({ rows }) => new Map(rows.map(({ dimensions, cost }) => [dimensions["team"]!, cost])));
  const teams = new Set(found.flatMap((costs) => [...costs.keys()]));
  return [...teams].map((team) => ({ team, costs: found.map((costs) => costs.get(team) ?? "0") }));
}
