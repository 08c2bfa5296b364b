import type { VNode } from "preact";
import { z } from "zod";
import { CARD_KINDS, type CardKind } from "../../domain/advice/card.ts";
import { perMonth } from "../../domain/advice/card-json.ts";
import { counted } from "../../domain/counted.ts";
import { formatAmount, sum } from "../../domain/exact/units.ts";
import { DAY_MILLIS, momentText } from "../../domain/time.ts";
import { seesAll, type Viewer } from "../access/viewer.ts";
import {
  readAdviceCards,
  readAdviceRun,
  readAdviceSums,
  refusalsOf,
  type AdviceRun,
  type AdviceSum,
  type StoredCard,
} from "../advice/read-cards.ts";
import { addCard } from "./advice-card.tsx";
import { addOutcomes } from "./advice-outcomes.tsx";
import { CardsTable } from "../parts/cards.tsx";
import { Figure } from "../parts/figures.tsx";
import { Money } from "../parts/money.tsx";
import { PagingLinks, pagingOf, rowsBefore, ROWS_OF_PAGE, type Paging } from "../parts/paging.tsx";
import { Empty, Table } from "../parts/table.tsx";
import { utc } from "../parts/time.ts";
import type { AddPage, PageContext } from "./context.ts";

const KINDS = Object.keys(CARD_KINDS) as [CardKind, ...CardKind[]];

/** Adds the page of the cards with their savings, the page of one card, and the page of what came of them. */
export function addAdvice(add: AddPage, context: PageContext): void {
  const { ledger, now } = context;
  const query = z.object({
    team: z.string().max(500).default(""),
    kind: z.enum(["", ...KINDS]).default(""),
    all: z.enum(["", "true"]).default(""),
  });
  add("/advice", { schema: { querystring: query } }, async ({ query: asked, viewer, url }, { store }) => {
    const { team, kind, all } = asked as z.output<typeof query>;
    const run = await readAdviceRun(store);
    if (run === undefined) return { title: "Advice", content: <NoRun /> };
    const seeing = { teams: viewer.teams, now: now() };
    const paging = pagingOf(url, "cards");
    const filter = { team: team || undefined, kind: kind || undefined, withDismissed: all === "true" };
    const sums = await readAdviceSums(store, run, seeing);
    const offset = rowsBefore(countOf(shownOf(sums, filter)), paging);
    const cards = await readAdviceCards(store, run, seeing, { ...filter, limit: ROWS_OF_PAGE, offset });
    const content = <AdvicePage {...{ run, sums, cards, filter, paging, viewer, currency: ledger.book.currency }} />;
    return { title: "Advice", content };
  });
  addCard(add, context);
  addOutcomes(add, context);
}

interface AdviceProps {
  readonly run: AdviceRun;
  /** The sums of all cards that the viewer may see. */
  readonly sums: readonly AdviceSum[];
  readonly cards: readonly StoredCard[];
  readonly filter: {
    readonly team: string | undefined;
    readonly kind: string | undefined;
    readonly withDismissed: boolean;
  };
  readonly paging: Paging;
  readonly viewer: Viewer;
  readonly currency: string;
}

function AdvicePage({ run, sums, cards, filter, paging, viewer, currency }: AdviceProps): VNode {
  const shown = shownOf(sums, filter);
  const count = countOf(shown);
  const hidden = countOf(shownOf(sums, { ...filter, withDismissed: true })) - count;
  const caption = `Cards by the owner’s saving in the window (${currency}, highest first)`;
  return (
    <>
      <h1>
        {count === 0 ? (
          "No cards"
        ) : (
          <>
            The organization can save{" "}
            <Total of="organizationIfFreedLeave" sums={shown} run={run} currency={currency} isPerMonth /> {currency} a
            month
          </>
        )}
      </h1>
      <p class="lead">
        {counted(count, "card")} from the usage of {momentText(run.window.from)} to {momentText(run.window.until)}{" "}
        (UTC). Computed {utc(run.madeAt)}.
        {count > 0 && (
          <>
            {" "}
            The saving needs that freed GPUs leave the fleet. Owners would pay{" "}
            <Total of="owner" sums={shown} run={run} currency={currency} isPerMonth /> {currency} less a month.
          </>
        )}
      </p>
      <FilterForm sums={sums} filter={filter} />
      {count === 0 ? (
        <Empty>
          <p>
            {hidden === 0
              ? "No workload and no node has a card here. Choose another team or kind above, or look again tomorrow."
              : "All cards here are dismissed."}
          </p>
        </Empty>
      ) : (
        <>
          <Totals sums={shown} run={run} currency={currency} />
          <p>
            An owner’s saving is not the organization’s. A GPU that an owner no longer holds goes on to cost its price
            until its node leaves the fleet; until then somebody else pays for it.
          </p>
          <CardsTable caption={caption} cards={cards} currency={currency} />
          <PagingLinks count={count} paging={paging} caption={caption} />
        </>
      )}
      {hidden > 0 && <p class="quiet">{counted(hidden, "dismissed card")} not shown.</p>}
      {seesAll(viewer) && <Refusals run={run} />}
      <p class="links">
        <a href="/advice/outcomes">Outcomes of earlier cards</a>
        <a href="/api/v1/advice">These cards as JSON</a>
      </p>
    </>
  );
}

function shownOf(
  sums: readonly AdviceSum[],
  { team, kind, withDismissed }: AdviceProps["filter"],
): readonly AdviceSum[] {
  return sums.filter(
    (each) =>
      (team === undefined || each.team === team) &&
      (kind === undefined || each.kind === kind) &&
      (withDismissed || !each.isDismissed),
  );
}

function countOf(sums: readonly AdviceSum[]): number {
  return sums.reduce((total, { cards }) => total + cards, 0);
}

interface SumsProps {
  readonly sums: readonly AdviceSum[];
  readonly run: AdviceRun;
  readonly currency: string;
}

function Totals(of: SumsProps): VNode {
  const { currency, run } = of;
  const month = (name: Amounts): VNode => (
    <>
      <Total {...of} of={name} isPerMonth /> per month of 730 h
    </>
  );
  const days = Math.round((run.window.until - run.window.from) / DAY_MILLIS);
  return (
    <dl class="figures">
      <Figure
        title={`The organization would have paid less in ${counted(days, "day")}, if freed GPUs left the fleet, ${currency}`}
        beside={month("organizationIfFreedLeave")}
      >
        <Total {...of} of="organizationIfFreedLeave" />
      </Figure>
      <Figure title="The same, while freed GPUs stay" beside={month("organization")}>
        <Total {...of} of="organization" />
      </Figure>
      <Figure title="Owners would have paid less" beside={month("owner")}>
        <Total {...of} of="owner" />
      </Figure>
    </dl>
  );
}

type Amounts = "owner" | "organization" | "organizationIfFreedLeave";

function Total({
  sums,
  run,
  currency,
  of,
  isPerMonth = false,
}: SumsProps & { readonly of: Amounts; readonly isPerMonth?: boolean }): VNode {
  const total = sum(sums.map((each) => each[of]));
  return <Money amount={formatAmount(isPerMonth ? perMonth(total, run.window) : total)} currency={currency} />;
}

function FilterForm({ sums, filter }: Pick<AdviceProps, "sums" | "filter">): VNode {
  const teams = [...new Set([...sums.map(({ team }) => team), ...(filter.team === undefined ? [] : [filter.team])])];
  const kinds = KINDS.filter((kind) => kind === filter.kind || sums.some((each) => each.kind === kind));
  return (
    <form class="view" method="get" action="/advice">
      <label>
        Team
        <select name="team">
          <option value="">all</option>
          {teams.map((team) => (
            <option value={team} selected={team === filter.team}>
              {team}
            </option>
          ))}
        </select>
      </label>
      <label>
        Kind
        <select name="kind">
          <option value="">all</option>
          {kinds.map((kind) => (
            <option value={kind} selected={kind === filter.kind}>
              {CARD_KINDS[kind]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Dismissed cards
        <select name="all">
          <option value="">hidden</option>
          <option value="true" selected={filter.withDismissed}>
            shown
          </option>
        </select>
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

/** The workloads of all teams without a card, by reason. */
function Refusals({ run }: { readonly run: AdviceRun }): VNode | null {
  const rows = refusalsOf(run);
  if (rows.length === 0) return null;
  return (
    <>
      <h2>Workloads without a card</h2>
      <Table
        caption={`Workloads of all teams for which a rule applied and no card was made. ${counted(run.workloads, "workload")} were judged.`}
        rows={rows}
        columns={[
          { head: "reason", cell: ({ because }) => because },
          { head: "workloads", isNumber: true, cell: ({ workloads }) => workloads },
        ]}
      />
    </>
  );
}

function NoRun(): VNode {
  return (
    <>
      <h1>No advice yet</h1>
      <Empty>
        <p>
          The leading processor computes the cards of the last whole days after each midnight (UTC), when their hours
          are charged. A workload needs the days of <code>advice.days</code>. <code>gpu-ledger advise</code> computes
          cards at once.
        </p>
      </Empty>
    </>
  );
}
