import type { VNode } from "preact";
import { CARD_KINDS, confidenceOf, type Card } from "../../domain/advice/card.ts";
import { perMonth } from "../../domain/advice/card-json.ts";
import { formatAmount, type Money as Amount } from "../../domain/exact/units.ts";
import { momentText } from "../../domain/time.ts";
import { decisionText, subjectText } from "../advice/text.ts";
import type { StoredCard } from "../advice/read-cards.ts";
import { address } from "./address.ts";
import { Money } from "./money.tsx";
import { Table } from "./table.tsx";

/** Cards by their savings, each with a link to its page. */
export function CardsTable({ caption, cards, currency, withTeams = true }: CardsTableProps): VNode {
  const saving = (head: string, of: (stored: StoredCard) => Amount) => ({
    head,
    isNumber: true,
    cell: (stored: StoredCard) => (
      <a href={cardAddress(stored.card.id)}>
        <Money amount={formatAmount(of(stored))} currency={currency} />
      </a>
    ),
  });
  return (
    <Table
      caption={caption}
      rows={cards}
      columns={[
        {
          head: "card",
          cell: ({ card }) => <CardLink card={card} />,
        },
        saving("owner", ({ card }) => card.saving.owner),
        saving("owner, per month", ({ card }) => perMonth(card.saving.owner, card.window)),
        saving("organization", ({ card }) => card.saving.organization),
        saving("if GPUs leave", ({ card }) => card.saving.organizationIfFreedLeave),
        ...(withTeams ? [{ head: "team", cell: ({ card }: StoredCard) => <bdi>{card.subject.team}</bdi> }] : []),
        { head: "sure", cell: ({ card }) => confidenceOf(card) },
        { head: "since", isWhole: true, cell: ({ since }) => momentText(since) },
        ...(cards.some(({ mark }) => mark !== undefined)
          ? [{ head: "decision", cell: ({ mark }: StoredCard) => (mark === undefined ? "" : decisionText(mark)) }]
          : []),
      ]}
    />
  );
}

interface CardsTableProps {
  readonly caption: string;
  readonly cards: readonly StoredCard[];
  readonly currency: string;
  /** False if all cards are of one team. */
  readonly withTeams?: boolean;
}

/** Returns the address of a card's page. */
export function cardAddress(id: string): string {
  return address("/advice/card", { id });
}

/** A card's kind, which links to its page, above its subject. */
export function CardLink({ card }: { readonly card: Card }): VNode {
  return (
    <>
      <a href={cardAddress(card.id)}>{CARD_KINDS[card.kind]}</a>
      <br />
      <bdi class="quiet">{subjectText(card)}</bdi>
    </>
  );
}
