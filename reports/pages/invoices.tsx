import type { VNode } from "preact";
import { z } from "zod";
import { policyOf } from "../api/context.ts";
import { reconcile, type Reconciliation } from "../reconcile/reconcile.ts";
import { doubledSentence } from "../../runtime/store/schema/doubled-exports.ts";
import { statementsOf, type AccountStatement, type StatementRow } from "../reconcile/statement.ts";
import { address } from "../parts/address.ts";
import { Money } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the page that reconciles a month with the exports of providers' bills. */
export function addInvoicesPage(add: AddPage, { words, ledger }: PageContext): void {
  const query = z.object({ period: words.period });
  add("/invoices", { schema: { querystring: query } }, async ({ query: asked, url }, { store }) => {
    const { period } = asked as z.output<typeof query>;
    const month = await reconcile(store, { period, policy: policyOf(ledger, undefined) });
    const paging = pagingOf(url, "machines");
    return {
      title: `Invoices of ${period.name}`,
      content: <InvoicesPage {...{ month, paging, billCurrency: ledger.book.currency }} />,
    };
  });
}

interface InvoicesPageProps {
  readonly month: Reconciliation;
  readonly paging: Paging;
  /** The currency of the ledger's bills. */
  readonly billCurrency: string;
}

function InvoicesPage({ month, paging, billCurrency }: InvoicesPageProps): VNode {
  const { period, machines, freeNodes, charged, doubled } = month;
  const statements = statementsOf(month);
  return (
    <>
      <h1>Does it equal the invoice? {period.name}</h1>
      <p class="lead">
        The effective cost of the lines of providers’ exports, and where each part of it went. The rows of each table
        sum to its total, exactly.
      </p>
      <form method="get" action="/invoices" class="view">
        <label>
          Month
          <input type="month" name="period" value={period.name} />
        </label>
        <button type="submit">Show</button>
      </form>
      {doubled.map((each) => (
        <div class="notice">
          <p>These costs count more than once: {doubledSentence(each)}.</p>
        </div>
      ))}
      {statements.length === 0 ? (
        <Empty>
          <p>
            No lines of exports in {period.name}. <code>gpu-ledger invoices import FILE</code> reads them.
          </p>
        </Empty>
      ) : (
        statements.map((statement) => <Account statement={statement} />)
      )}
      {charged.length > 0 && (
        <Table
          caption={`Charged by the ledger in ${period.name}`}
          rows={charged}
          columns={[
            { head: "source", cell: ({ source }) => <bdi>{source}</bdi> },
            {
              head: "cost",
              isNumber: true,
              value: (row) => Number(row.charged),
              cell: (row) => <Money amount={row.charged} currency={billCurrency} />,
            },
          ]}
        />
      )}
      {machines.length > 0 && (
        <>
          <h2>Paid for, and no node</h2>
          <Table
            caption="Machines on the bill in time in which no node was the machine"
            order="dearest first"
            rows={machines}
            paging={paging}
            columns={[
              { head: "machine", cell: ({ machine }) => <bdi>{machine}</bdi> },
              { head: "type", cell: ({ instanceType }) => <bdi>{instanceType}</bdi> },
              { head: "account", cell: ({ account }) => <bdi>{account}</bdi> },
              {
                head: "why",
                cell: ({ kind }) => (kind === "outside" ? "outside its node's time" : "joined no cluster"),
              },
              { head: "from", isWhole: true, cell: ({ from }) => utc(from) },
              { head: "until", isWhole: true, cell: ({ until }) => utc(until) },
              {
                head: "cost",
                isNumber: true,
                value: ({ effective }) => Number(effective),
                cell: ({ effective, currency }) => <Money amount={effective} currency={currency} />,
              },
              { head: "currency", cell: ({ currency }) => currency },
            ]}
          />
        </>
      )}
      {freeNodes.length > 0 && (
        <Table
          caption="Nodes with a cost of 0 on the bill"
          rows={freeNodes}
          columns={[
            {
              head: "node",
              cell: ({ cluster, node }) => (
                <a href={address("/node", { cluster, node })}>
                  <bdi>{node}</bdi>
                </a>
              ),
            },
            { head: "machine", cell: ({ machine }) => <bdi>{machine}</bdi> },
            { head: "hours", isNumber: true, cell: ({ hours }) => String(hours) },
          ]}
        />
      )}
    </>
  );
}

function Account({ statement }: { readonly statement: AccountStatement }): VNode {
  const { source, account, currency, lines, isInvoiced, effective, billed, effectiveRows, billedRows } = statement;
  const name = `${source}, account ${account === "" ? "(none)" : account}`;
  return (
    <section>
      <h2>
        <bdi>{name}</bdi>
      </h2>
      <p>
        {lines} lines, {isInvoiced ? "all with the number of an invoice" : "not all invoiced yet"}.
      </p>
      <Rows
        caption={`Effective cost of ${name} (${currency})`}
        rows={effectiveRows}
        total={effective}
        currency={currency}
      />
      <Rows
        caption={`From effective to billed cost of ${name} (${currency})`}
        rows={billedRows}
        total={billed}
        currency={currency}
      />
    </section>
  );
}

interface RowsProps {
  readonly caption: string;
  readonly rows: readonly StatementRow[];
  readonly total: string;
  readonly currency: string;
}

function Rows({ caption, rows, total, currency }: RowsProps): VNode {
  return (
    <Table
      caption={caption}
      rows={rows}
      columns={[
        { head: "part", cell: ({ what }) => <bdi>{what}</bdi>, foot: "total" },
        {
          head: "amount",
          isNumber: true,
          cell: ({ amount }) => <Money amount={amount} currency={currency} />,
          foot: <Money amount={total} currency={currency} />,
        },
      ]}
    />
  );
}
