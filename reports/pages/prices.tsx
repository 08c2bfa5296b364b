import type { VNode } from "preact";
import { z } from "zod";
import { policyOf } from "../api/context.ts";
import { UNOWNED } from "../../domain/owner/owner.ts";
import { shownEntries, shownRates, type ShownEntry, type ShownRate } from "../read/price-entries.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { fixedSpan } from "../report/json.ts";
import type { Report } from "../report/report.ts";
import { address, explainAddress } from "../parts/address.ts";
import { grouped, Hours, hoursColumn, Money, moneyColumn } from "../parts/money.tsx";
import { pagingOf } from "../parts/paging.tsx";
import { SpanForm } from "../parts/span-form.tsx";
import { Table } from "../parts/table.tsx";
import { readPart } from "../api/read-part.ts";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the page of the price book and of owners, with the gaps of both. */
export function addPrices(add: AddPage, context: PageContext): void {
  const { words, ledger } = context;
  const query = z.object({ span: words.span });
  add("/prices", { schema: { querystring: query } }, async ({ query: asked, url }, asking) => {
    const { span } = asked as z.output<typeof query>;
    const policy = policyOf(ledger, undefined);
    const of = { policy, kind: "showback", span: fixedSpan(span.span) } as const;
    const question = { ...of, where: [{ dimension: "unpriced", values: ["true"] }] };
    const unownedBy = { ...of, where: [{ dimension: "team", values: [UNOWNED] }] };
    const [gaps, unowned] = await Promise.all([
      readPart(context, asking, {
        ...question,
        by: ["cluster", "instanceType", "gpuModel", "capacityType"],
      }),
      readPart(context, asking, { ...unownedBy, by: ["namespace", "workloadKind", "workload"] }),
    ]);
    const { book, owners } = ledger;
    const register = owners.register === undefined ? undefined : [...owners.register];
    const view = {
      gaps,
      unowned,
      question,
      register,
      entries: shownEntries(book),
      currency: book.currency,
      url,
      rates: shownRates(book),
    };
    return { title: "Prices and owners", content: <PricesPage {...view} span={span.span.name} /> };
  });
}

interface PricesProps {
  readonly gaps: Report;
  readonly unowned: Report;
  readonly question: ChargesQuestion;
  readonly register: readonly string[] | undefined;
  readonly entries: readonly ShownEntry[];
  readonly rates: readonly ShownRate[];
  readonly currency: string;
  readonly span: string;
  readonly url: string;
}

const PER: Readonly<Record<ShownEntry["per"], string>> = {
  "gpu-hour": "each GPU-hour",
  "node-hour": "each hour of the node",
  owned: "purchase price",
  month: "each month",
  hour: "each hour",
};

function PricesPage({ gaps, unowned, question, register, entries, rates, currency, span, url }: PricesProps): VNode {
  const price = (head: string, of: (entry: ShownEntry) => string | null) => ({
    head,
    isNumber: true,
    value: (entry: ShownEntry) => Number(of(entry) ?? 0),
    cell: aligned(entries, of),
  });
  return (
    <>
      <h1>Prices and owners</h1>
      <p class="lead">The prices of GPU time, the owners of workloads, and the gaps in both.</p>
      <SpanForm path="/prices" span={span} policies={[]} policy="" />
      <h2>Without a price</h2>
      <Unpriced gaps={gaps} question={question} />
      <h2>Without an owner</h2>
      <Unowned unowned={unowned} currency={currency} span={span} url={url} />
      {register !== undefined && (
        <p>
          Teams of the register: <bdi>{register.join(", ")}</bdi>.
        </p>
      )}
      <h2>The price book</h2>
      <Table
        caption="Entries with their names, which charges and explanations have too"
        rows={entries}
        paging={pagingOf(url, "entries")}
        columns={[
          { head: "entry", cell: ({ name }) => name },
          { head: "for", cell: ({ match }) => matchText(match) },
          { head: "from", isWhole: true, cell: ({ from }) => from.slice(0, 10) },
          { head: "until", isWhole: true, cell: ({ until }) => until?.slice(0, 10) ?? "" },
          { head: "by", cell: ({ per }) => PER[per] },
          price("list", ({ list }) => list),
          price("contracted", ({ contracted }) => contracted),
          price("effective", ({ amount }) => amount),
          { head: "in", cell: ({ currency: own }) => own },
        ]}
      />
      {rates.length > 0 && (
        <Table
          caption={`Exchange rates: one unit of a currency in ${currency}`}
          rows={rates}
          columns={[
            { head: "currency", cell: (rate) => rate.currency },
            { head: "from", isWhole: true, cell: ({ from }) => from.slice(0, 10) },
            { head: currency, isNumber: true, cell: ({ rate }) => rate },
          ]}
        />
      )}
      <p class="links">
        <a href="/api/v1/prices">The price book as JSON</a>
        <a href={address("/api/v1/owners", { span })}>Workloads without a team as JSON</a>
      </p>
    </>
  );
}

function Unpriced({ gaps, question }: Pick<PricesProps, "gaps" | "question">): VNode {
  return gaps.rows.length === 0 ? (
    <p>All GPU-hours of this time have a price.</p>
  ) : (
    <>
      <p>
        <Hours hours={gaps.total.gpuHours} /> GPU-hours have no price and therefore no cost. Add entries for these
        machines. <code>gpu-ledger prices show</code> shows the entry that prices each node.
      </p>
      <Table
        caption="Machines without a price"
        rows={gaps.rows}
        columns={[
          {
            head: "instance type",
            cell: ({ dimensions }) => (
              <a
                href={explainAddress(
                  question,
                  Object.entries(dimensions).map(([dimension, value]) => ({ dimension, values: [value] })),
                )}
              >
                {dimensions["instanceType"] || "unknown"}
              </a>
            ),
            foot: "all",
          },
          { head: "model", cell: ({ dimensions }) => dimensions["gpuModel"] },
          { head: "capacity type", cell: ({ dimensions }) => dimensions["capacityType"] },
          { head: "cluster", cell: ({ dimensions }) => dimensions["cluster"] },
          { head: "GPU-hours", ...hoursColumn(gaps.rows, ({ gpuHours }) => gpuHours) },
        ]}
      />
    </>
  );
}

function Unowned({ unowned, currency, span, url }: Pick<PricesProps, "unowned" | "currency" | "span" | "url">): VNode {
  return unowned.rows.length === 0 ? (
    <p>All workloads of this time have a team.</p>
  ) : (
    <>
      <p>
        <Money amount={unowned.total.cost} currency={currency} /> {currency} of the holders’ cost have no team. Assign a
        team with a rule under <code>owners</code> or with a label. <code>gpu-ledger owners</code> shows the workloads
        that the current rules leave without a team, and the teams that are missing in the register.
      </p>
      <Table
        caption="Workloads without a team"
        order="highest cost first"
        rows={unowned.rows}
        paging={pagingOf(url, "unowned")}
        columns={[
          {
            head: "workload",
            cell: ({ dimensions: { namespace, workload } }) => (
              <a href={address("/workload", { namespace, workload, span })}>
                <bdi>{`${namespace}/${workload}`}</bdi>
              </a>
            ),
            foot: "all",
          },
          { head: "kind", cell: ({ dimensions }) => dimensions["workloadKind"] },
          { head: "GPU-hours", ...hoursColumn(unowned.rows, ({ gpuHours }) => gpuHours) },
          { head: currency, ...moneyColumn(unowned.rows, ({ cost }) => cost, currency) },
        ]}
      />
    </>
  );
}

/** The least digits after the point of a price. */
const LEAST_DIGITS = 2;

/** Returns the prices of a column. Those of one unit have the same number of digits, so that their points are aligned. */
function aligned(
  entries: readonly ShownEntry[],
  of: (entry: ShownEntry) => string | null,
): (entry: ShownEntry) => string {
  const fractionOf = (amount: string | null): string => amount?.split(".")[1] ?? "";
  const digits = new Map<string, number>();
  for (const entry of entries)
    digits.set(entry.per, Math.max(LEAST_DIGITS, digits.get(entry.per) ?? 0, fractionOf(of(entry)).length));
  return (entry) => {
    const amount = of(entry);
    if (amount === null) return "";
    const [whole] = amount.split(".");
    return grouped(`${whole}.${fractionOf(amount).padEnd(digits.get(entry.per)!, "0")}`);
  };
}

function matchText(match: ShownEntry["match"]): string {
  const keys = Object.entries(match).map(([key, value]) => `${key} ${value}`);
  return keys.length === 0 ? "everything" : keys.join(", ");
}
