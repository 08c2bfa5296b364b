import type { ComponentChildren, VNode } from "preact";
import { minorDigitsOf } from "../../domain/price/currency.ts";
import type { ServingDimension } from "../../domain/serving/dimension.ts";
import { address } from "../parts/address.ts";
import { Link } from "../parts/link.tsx";
import { explained, grouped, moneyColumn } from "../parts/money.tsx";
import type { Paging } from "../parts/paging.tsx";
import { Table, type Column } from "../parts/table.tsx";
import type { Filter } from "../question/question.ts";
import type { ServingMeasures, ServingReport, ServingRow } from "../serving/read-serving.ts";

/** A table of the page: the dimensions of its rows. Tables of a dimension that the address fixes are left out. */
export interface Breakdown {
  readonly id: string;
  readonly title: string;
  readonly by: readonly ServingDimension[];
  /** The parameter of the address that a row sets. */
  readonly sets?: "model" | "tenant";
}

export interface Part {
  readonly table: Breakdown;
  readonly report: ServingReport;
  readonly paging: Paging;
}
/** The span, the policy and the parts of the fleet that the page is about. */
export interface Subject {
  readonly span: string;
  readonly policy: string;
  readonly model: string | undefined;
  readonly tenant: string | undefined;
}

export type Explain = (more: readonly Filter[]) => string;

interface PartProps {
  readonly part: Part;
  readonly of: Subject;
  readonly to: Explain;
}

export function PartTable({ part, of, to }: PartProps): VNode {
  const { table, report, paging } = part;
  const ofRow = (row?: ServingRow): string =>
    to(row === undefined ? [] : table.by.map((dimension) => ({ dimension, values: [row.dimensions[dimension]!] })));
  const { rows, currency } = report;
  const [first, ...others] = table.by;
  const unit = (head: string, amountOf: (row: ServingRow) => string | null): Column<ServingRow> => ({
    head,
    isNumber: true,
    value: (row) => Number(amountOf(row) ?? 0),
    cell: (row) => (
      <Link to={ofRow(row)}>
        <UnitCost amount={amountOf(row)} currency={currency} />
      </Link>
    ),
  });
  const tokens = (head: string, countOf: (row: ServingMeasures) => string): Column<ServingRow> => ({
    head,
    isNumber: true,
    value: (row) => Number(countOf(row)),
    cell: (row) => (
      <Link to={ofRow(row)}>
        <Count count={countOf(row)} />
      </Link>
    ),
    foot: (
      <Link to={ofRow()}>
        <Count count={countOf(report.total)} />
      </Link>
    ),
  });
  return (
    <Table
      caption={`${table.title} (${currency})`}
      isWide={others.length > 1}
      rows={rows}
      paging={paging}
      columns={[
        { head: TITLES[first!] ?? first!, cell: (row) => nameOf(row, table, of), foot: "all" },
        ...others.map((name) => ({ head: TITLES[name] ?? name, cell: (row: ServingRow) => row.dimensions[name]! })),
        {
          head: "cost",
          ...explained(
            moneyColumn(rows, (row) => row.cost, currency),
            ofRow,
          ),
        },
        {
          head: "idle",
          ...explained(
            moneyColumn(rows, (row) => row.phases.idle ?? "0", currency),
            ofRow,
          ),
        },
        tokens("prompt tokens", (row) => row.computedTokens),
        tokens("cached", (row) => row.cachedTokens),
        tokens("generated", (row) => row.generatedTokens),
        unit("per million tokens", (row) => row.unitCosts.millionTokens.loaded),
        unit("while busy", (row) => row.unitCosts.millionTokens.busy),
      ]}
    />
  );
}

const TITLES: Readonly<Partial<Record<ServingDimension, string>>> = { gpuModel: "GPU model" };

/** Returns the first cell of a row: its name, with the address of the page of this model or tenant. */
function nameOf({ dimensions }: ServingRow, { by, sets }: Breakdown, of: Subject): ComponentChildren {
  const name = dimensions[by[0]!]!;
  const shown = name === "" ? <span class="quiet">none</span> : <bdi>{name}</bdi>;
  if (sets === undefined || name === "") return shown;
  return <a href={address("/serving", { ...of, [sets]: name })}>{shown}</a>;
}

/** A unit cost in minor units with two more digits, because a token costs little. The exact one is shown on hover. */
export function UnitCost({ amount, currency }: { readonly amount: string | null; readonly currency: string }): VNode {
  if (amount === null) return <span class="quiet">–</span>;
  const digits = (minorDigitsOf(currency) ?? 2) + 2;
  return (
    <data class="money" value={amount} title={`${amount} ${currency}`}>
      {grouped(Number(amount).toFixed(digits))}
    </data>
  );
}

export function Count({ count }: { readonly count: string }): VNode {
  return <data value={count}>{grouped(count)}</data>;
}
