import type { VNode } from "preact";
import { CARD_KINDS } from "../../../domain/advice/card.ts";
import { perMonth } from "../../../domain/advice/card-json.ts";
import { counted } from "../../../domain/advice/rule.ts";
import { formatAmount } from "../../../domain/exact/units.ts";
import { subjectText } from "../../advice/text.ts";
import type { LargestCards } from "../../read/advice.ts";
import { address } from "../address.ts";
import { cardAddress, CardsTable } from "./cards.tsx";
import { Money } from "./money.tsx";

interface LargestProps {
  readonly advice: LargestCards;
  readonly currency: string;
}

/** The card with the largest saving in a sentence, with links to the card and to all cards. */
export function LargestSaving({ advice, currency }: LargestProps): VNode {
  const { run, count, owner } = advice;
  const [{ card }] = advice.cards as [LargestCards["cards"][number]];
  return (
    <>
      <h2>Largest saving</h2>
      <p>
        <a href={cardAddress(card.id)}>
          {CARD_KINDS[card.kind]}: <bdi>{subjectText(card)}</bdi>
        </a>
        . The team <bdi>{card.subject.team}</bdi> would pay{" "}
        <Money amount={formatAmount(perMonth(card.saving.owner, card.window))} currency={currency} /> {currency} less a
        month.
      </p>
      <p class="links">
        <a href="/advice">
          {count === 1 ? "The advice" : `All ${counted(count, "card")}`}:{" "}
          <Money amount={formatAmount(perMonth(owner, run.window))} currency={currency} /> {currency} a month
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
