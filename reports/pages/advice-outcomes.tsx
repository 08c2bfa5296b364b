import type { VNode } from "preact";
import { CARD_KINDS } from "../../domain/advice/card.ts";
import { VERDICTS } from "../../domain/advice/came-true.ts";
import { counted } from "../../domain/counted.ts";
import { formatAmount, sum, type Money as Amount } from "../../domain/exact/units.ts";
import { momentText } from "../../domain/time.ts";
import { subjectText } from "../advice/text.ts";
import { readCameTrue, type CameTrue } from "../advice/came-true.ts";
import { Money } from "../parts/money.tsx";
import { CardLink } from "../parts/cards.tsx";
import { pagingOf, type Paging } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import type { AddPage, PageContext } from "./context.ts";

/** Adds the page of what cards promised and what came. */
export function addOutcomes(add: AddPage, { ledger, now }: PageContext): void {
  const { currency } = ledger.book;
  const policy = ledger.policies[0].name;
  add("/advice/outcomes", { schema: {} }, async ({ viewer, url }, { store }) => {
    const outcomes = await readCameTrue(store, { policy, now: now(), teams: viewer.teams });
    const view = { outcomes, currency, paging: pagingOf(url, "outcomes") };
    return { title: "Outcomes of the advice", content: <Outcomes {...view} /> };
  });
}

interface OutcomesProps {
  readonly outcomes: readonly CameTrue[];
  readonly currency: string;
  readonly paging: Paging;
}

function Outcomes({ outcomes, currency, paging }: OutcomesProps): VNode {
  const judged = outcomes.filter(({ outcome }) => outcome.verdict !== "too-early");
  const total = (of: "promised" | "came"): VNode => (
    <Money amount={formatAmount(sum(judged.map(({ outcome }) => outcome[of])))} currency={currency} />
  );
  return (
    <>
      <h1>
        {judged.length === 0 ? (
          "No outcomes yet"
        ) : (
          <>
            Saved {total("came")} of {total("promised")} {currency} promised per hour
          </>
        )}
      </h1>
      <p class="lead">
        A card is followed for 60 days after it has ended, or after a person marked it as taken.{" "}
        {judged.length > 0 && `${counted(judged.length, "card")} changed at least 3 whole days ago.`}
      </p>
      {outcomes.length === 0 ? (
        <Empty>
          <p>No card for a workload has ended, and none was marked as taken.</p>
        </Empty>
      ) : (
        <>
          <OutcomesTable {...{ outcomes, currency, paging }} />
          <p>
            The real saving is the expected cost minus the cost after the change. The expected cost is the cost before,
            adjusted by the change of similar workloads of the team.
          </p>
        </>
      )}
      <p class="links">
        <a href="/advice">The cards of today</a>
        <a href="/api/v1/advice/outcomes">These outcomes as JSON</a>
      </p>
    </>
  );
}

function OutcomesTable({ outcomes, currency, paging }: OutcomesProps): VNode {
  const amount = (of: Amount): VNode => <Money amount={formatAmount(of)} currency={currency} />;
  const column = (head: string, of: (outcome: CameTrue["outcome"]) => Amount) => ({
    head,
    isNumber: true,
    value: ({ outcome }: CameTrue) => Number(of(outcome)),
    cell: ({ outcome }: CameTrue) => amount(of(outcome)),
  });
  return (
    <Table
      caption={`Cost per hour of each workload (${currency})`}
      order="largest promise first"
      rows={outcomes}
      paging={paging}
      columns={[
        {
          head: "card",
          value: ({ card }) => `${CARD_KINDS[card.kind]} ${subjectText(card)}`,
          cell: ({ card }) => <CardLink card={card} />,
        },
        { head: "team", cell: ({ card }) => <bdi>{card.subject.team}</bdi> },
        {
          head: "changed",
          isWhole: true,
          cell: ({ changedAt, isMarked }) => `${momentText(changedAt)}${isMarked ? ", marked" : ""}`,
        },
        { head: "verdict", cell: ({ outcome }) => VERDICTS[outcome.verdict] },
        column("promised", ({ promised }) => promised),
        column("came", ({ came }) => came),
        {
          head: "of one day",
          isNumber: true,
          cell: ({ outcome }) => (
            <>
              {amount(outcome.least)} to {amount(outcome.most)}
            </>
          ),
        },
        column("before", ({ before }) => before),
        column("expected", ({ expected }) => expected),
        column("after", ({ after }) => after),
        { head: "days", isNumber: true, cell: ({ outcome }) => outcome.days },
        { head: "similar", isNumber: true, cell: ({ outcome }) => outcome.similar },
      ]}
    />
  );
}
