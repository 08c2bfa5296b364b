import type { VNode } from "preact";
import { perMonth } from "../../domain/advice/card-json.ts";
import { counted } from "../../domain/counted.ts";
import { formatAmount } from "../../domain/exact/units.ts";
import type { LargestCards as Advice } from "../advice/read-cards.ts";
import { address } from "./address.ts";
import { CardsTable } from "./cards.tsx";
import { Money } from "./money.tsx";

interface LargestProps {
  readonly advice: Advice;
  readonly currency: string;
  /** The team of the cards; absent for all teams. */
  readonly team?: string;
}

/** The cards with the largest savings, with a link to all cards of the team, or of all teams that the viewer sees. */
export function LargestCards({ advice, currency, team }: LargestProps): VNode {
  const { run, cards, count, organizationIfFreedLeave } = advice;
  const saving = formatAmount(perMonth(organizationIfFreedLeave, run.window));
  return (
    <>
      <h2>Largest savings</h2>
      <CardsTable
        caption={`Advice for the window of the cards (${currency}, highest first)`}
        cards={cards}
        currency={currency}
        withTeams={team === undefined}
      />
      <p class="links">
        <a href={address("/advice", { team })}>
          {count === 1 ? "The card" : `All ${counted(count, "card")}`}: <Money amount={saving} currency={currency} />{" "}
          {currency} a month for the organization
        </a>
      </p>
    </>
  );
}
