import type { VNode } from "preact";
import { readPeriods, type Period } from "../read/periods.ts";
import type { Viewer } from "../access/viewer.ts";
import { seesAll } from "../access/viewer.ts";
import { address } from "../parts/address.ts";
import { Money } from "../parts/money.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the page of the billing periods: the running one, the open ones, and the closed ones with their closers. */
export function addPeriods(add: AddPage, { ledger, now }: PageContext): void {
  add("/periods", { schema: {} }, async ({ viewer, url }, { store }) => {
    const periods = await readPeriods(store, { closingDay: ledger.closing.day, now: now() });
    const view = { periods, viewer, currency: ledger.book.currency, paging: pagingOf(url, "periods") };
    return { title: "Periods", content: <PeriodsPage {...view} /> };
  });
}

interface PeriodsProps {
  readonly periods: readonly Period[];
  readonly viewer: Viewer;
  readonly currency: string;
  readonly paging: Paging;
}

function PeriodsPage({ periods, viewer, currency, paging }: PeriodsProps): VNode {
  return (
    <>
      <h1>Billing periods</h1>
      <p class="lead">
        A month is open until it is closed, on the page of its statement or with <code>gpu-ledger close</code>. Then its
        figures are final. Later changes are booked as corrections in the open month.
      </p>
      <Table
        caption="Billing periods (newest first, all times in UTC)"
        rows={periods}
        paging={paging}
        columns={[
          {
            head: "period",
            cell: ({ period }) => <a href={address("/statement", { period })}>{period}</a>,
          },
          { head: "status", cell: ({ status }) => status },
          {
            head: "charged until",
            cell: ({ chargedUntil }) =>
              chargedUntil === null ? "no hour yet" : utc(Date.parse(chargedUntil)).slice(0, 16),
          },
          { head: "can be closed from", cell: ({ closesFrom }) => closesFrom.slice(0, 10) },
          {
            head: "closed",
            cell: ({ closed }) =>
              closed === null ? "" : `by ${closed.by}, ${utc(Date.parse(closed.at)).slice(0, 16)}`,
          },
          ...(seesAll(viewer)
            ? [
                {
                  head: `posted in ${currency}`,
                  isNumber: true as const,
                  value: ({ closed }: Period) => Number(closed?.posted ?? 0),
                  cell: ({ closed }: Period) =>
                    closed === null ? "" : <Money amount={closed.posted} currency={currency} />,
                },
              ]
            : []),
        ]}
      />
    </>
  );
}
