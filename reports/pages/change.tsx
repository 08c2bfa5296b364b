import type { VNode } from "preact";
import { z } from "zod";
import { askChange } from "../api/change.ts";
import { allowed, keptPolicies, policyOf } from "../api/context.ts";
import type { Change, ChangePart } from "../change/read-change.ts";
import { causeWords, unknownBefore } from "../change/words.ts";
import { filterText, type Filter } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import { address, explainAddress, teamAddress } from "../parts/address.ts";
import { Figure } from "../parts/figures.tsx";
import { explained, grouped, Money, moneyColumn } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { SpanForm } from "../parts/span-form.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { spanTitle } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";
import { is } from "./subject-kinds.ts";

/** Adds the page that divides the difference between the costs of two spans by its causes. */
export function addChangePage(add: AddPage, context: PageContext): void {
  const { words, ledger } = context;
  const query = z.object({ span: words.span, compare: words.compare, where: words.where, policy: words.policy });
  add("/change", { schema: { querystring: query } }, async ({ query: asked, viewer, url }, asking) => {
    const { span, compare, where, policy } = asked as z.output<typeof query>;
    const change = await askChange(context, asking, {
      policy: policyOf(ledger, policy),
      where: allowed(where, viewer),
      span: span.span,
      compared: compare?.span,
    });
    const view = {
      change,
      where,
      currency: ledger.book.currency,
      span: span.span.name,
      compared: compare?.span.name ?? "",
      policies: keptPolicies(ledger),
      paging: pagingOf(url, "parts"),
    };
    return { title: "Change", content: <ChangePage {...view} /> };
  });
}

interface ChangeProps {
  readonly change: Change;
  /** The conditions of the address, without the viewer's own. */
  readonly where: readonly Filter[];
  readonly currency: string;
  /** The spans as in the address. */
  readonly span: string;
  readonly compared: string;
  readonly policies: readonly string[];
  readonly paging: Paging;
}

function ChangePage({ change, where, currency, span, compared, policies, paging }: ChangeProps): VNode {
  const { question, causes, parts } = change;
  const { policy, before, after } = question;
  const explain = (of: Span, more: readonly Filter[] = []): string =>
    explainAddress({ policy, kind: "showback", span: of, where }, more);
  /** A part without charges in the second span is shown in the first one. */
  const spanOf = ({ cause }: ChangePart): Span => (cause === "gone" || cause === "moved-out" ? before : after);
  const ofPart = (part?: ChangePart): string =>
    part === undefined ? explain(after) : explain(spanOf(part), filtersOf(part));
  const [one, other] = [spanTitle(before), spanTitle(after)];
  return (
    <>
      <h1>Why the cost changed</h1>
      <p class="lead">
        The cost of {other} less that of {one}, divided by its causes. The parts sum to the change, to the last digit.
      </p>
      {where.length > 0 && <p>Only {where.map(filterText).join(" and ")}.</p>}
      <SpanForm path="/change" {...{ span, policies, policy, compared }} keep={{ where: where.map(filterText) }} />
      <dl class="figures">
        <Figure title={`Cost in ${currency}`} beside={other} to={explain(after)}>
          <Money amount={change.costAfter} currency={currency} />
        </Figure>
        <Figure title="Cost before" beside={one} to={explain(before)}>
          <Money amount={change.costBefore} currency={currency} />
        </Figure>
        <Figure title="Change" beside={`${grouped(String(parts.length))} parts`}>
          <Money amount={change.change} currency={currency} isSigned />
        </Figure>
      </dl>
      {change.chargedSince !== null && <p class="notice">{unknownBefore(change.chargedSince)}</p>}
      {parts.length === 0 ? (
        <Empty>
          <p>Both times have the same charges, or none.</p>
        </Empty>
      ) : (
        <>
          <h2>Causes</h2>
          <Table
            caption={`By cause (${currency})`}
            rows={causes}
            columns={[
              { head: "cause", cell: ({ cause, cost }) => causeWords(cause, cost), foot: "all" },
              { head: "parts", isNumber: true, cell: ({ parts: count }) => count },
              { head: "change", ...moneyColumn(causes, ({ cost }) => cost, currency, true) },
            ]}
          />
          <h2>Parts</h2>
          <Table
            caption={`Parts of the change (${currency})`}
            order="largest amount first"
            rows={parts}
            paging={paging}
            columns={[
              { head: "workload", cell: holderCell, value: nameOf, foot: "all" },
              {
                head: "team",
                cell: ({ team }) => (
                  <a href={teamAddress(team, span)}>
                    <bdi>{team}</bdi>
                  </a>
                ),
              },
              { head: "cause", cell: ({ cause, cost }) => causeWords(cause, cost) },
              {
                head: "change",
                ...explained(
                  moneyColumn(parts, ({ cost }) => cost, currency, true),
                  ofPart,
                ),
              },
            ]}
          />
        </>
      )}
    </>
  );

  function holderCell(part: ChangePart): VNode {
    const { cluster, namespace, workload } = part;
    if (workload === "") return <>{nameOf(part)}</>;
    return (
      <a href={address("/workload", { cluster, namespace, workload, span: spanOf(part).name })}>
        <bdi>{nameOf(part)}</bdi>
      </a>
    );
  }
}

function nameOf({ namespace, workload }: ChangePart): string {
  return workload === "" ? "not held" : `${namespace}/${workload}`;
}

/** Returns the conditions of the charges of a part. */
function filtersOf({ team, cluster, namespace, workload }: ChangePart): readonly Filter[] {
  const ofTeam = is("team", team);
  return workload === ""
    ? [ofTeam, is("workload", "")]
    : [ofTeam, is("cluster", cluster), is("namespace", namespace), is("workload", workload)];
}
