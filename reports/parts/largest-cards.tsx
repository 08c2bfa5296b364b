import type { VNode } from "preact";
import { CARD_KINDS, type Card } from "../../domain/advice/card.ts";
import { perMonth } from "../../domain/advice/card-json.ts";
import { counted } from "../../domain/counted.ts";
import { formatAmount, type Money as Exact } from "../../domain/exact/units.ts";
import { subjectText } from "../advice/text.ts";
import type { LargestCards } from "../advice/read-cards.ts";
import { address } from "./address.ts";
import { cardAddress, CardsTable } from "./cards.tsx";
import { Money } from "./money.tsx";

interface LargestProps {
  readonly advice: LargestCards;
  readonly currency: string;
}

/** The card with the largest saving in a sentence, with links to the card and to all cards. */
export function LargestSaving({ advice, currency }: LargestProps): VNode {
  const { run, count } = advice;
  const [{ card }] = advice.cards as [LargestCards["cards"][number]];
  const { owner, organizationIfFreedLeave } = card.saving;
  const month = (saving: Exact, window: Card["window"]): VNode => (
    <Money amount={formatAmount(perMonth(saving, window))} currency={currency} />
  );
  const ofCard = (saving: Exact): VNode => <a href={cardAddress(card.id)}>{month(saving, card.window)}</a>;
  return (
    <>
      <h2>Largest saving</h2>
      <p>
        <a href={cardAddress(card.id)}>
          {CARD_KINDS[card.kind]}: <bdi>{subjectText(card)}</bdi>
        </a>
        . The organization can save {ofCard(organizationIfFreedLeave)} {currency} a month; the team{" "}
        <bdi>{card.subject.team}</bdi> would pay {ofCard(owner)} {currency} less.
      </p>
      <p class="links">
        <a href="/advice">
          {count === 1 ? "The advice" : `All ${counted(count, "card")}`}:{" "}
          {month(advice.organizationIfFreedLeave, run.window)} {currency} a month
        </a>
      </p>
    </>
  );
}

/** The cards of a team with the largest savings, with a link to all of the team's cards. */
export function TeamCards({ advice, currency }: LargestProps): VNode {
  const { cards, count } = advice;
  const { team } = cards[0]!.card.subject;
  return (
    <>
      <h2>Largest savings</h2>
      <CardsTable
        caption={`Advice for the team (${currency}, for its window, highest first)`}
        cards={cards}
        currency={currency}
        withTeams={false}
      />
      <p class="links">
        <a href={address("/advice", { team })}>
          {count === 1 ? "The team’s advice" : `All ${counted(count, "card")} of the team`}
        </a>
      </p>
    </>
  );
}
