import { multiply, rational } from "../exact/rational.ts";
import { amountOf, exactly, formatAmount, roundToLastUnit, type Money } from "../exact/units.ts";
import { HOUR_MILLIS, MONTH_HOURS } from "../time.ts";
import type { Card, CardLine, Saving } from "./card.ts";
import type { Window } from "./evidence.ts";

/** A card as JSON. Money is a decimal text. */
export type CardJson = Written<Card>;

type Written<Of> = Of extends bigint
  ? string
  : Of extends readonly (infer Item)[]
    ? readonly Written<Item>[]
    : Of extends object
      ? { readonly [Key in keyof Of]: Written<Of[Key]> }
      : Of;

/** Returns a saving of a window as the saving of a month of 730 h, rounded to the last unit. */
export function perMonth(amount: Money, { from, until }: Window): Money {
  return roundToLastUnit(multiply(exactly(amount), rational(MONTH_HOURS * HOUR_MILLIS, until - from)));
}

/** Returns a card as JSON. */
export function writeCard(card: Card): CardJson {
  const { owner, freed, organization, organizationIfFreedLeave } = card.saving;
  return {
    ...card,
    saving: {
      owner: formatAmount(owner),
      freed: formatAmount(freed),
      organization: formatAmount(organization),
      organizationIfFreedLeave: formatAmount(organizationIfFreedLeave),
    },
    lines: card.lines.map((line) => ({
      ...line,
      was: formatAmount(line.was),
      otherwise: formatAmount(line.otherwise),
    })),
    alternatives: card.alternatives.map((each) => ({ ...each, owner: formatAmount(each.owner) })),
  } as CardJson;
}

/** Reads a card that {@link writeCard} wrote. */
export function readCard(json: CardJson): Card {
  const money = (text: string): Money => amountOf(text);
  const { owner, freed, organization, organizationIfFreedLeave } = json.saving;
  const saving: Saving = {
    owner: money(owner),
    freed: money(freed),
    organization: money(organization),
    organizationIfFreedLeave: money(organizationIfFreedLeave),
  };
  const lines = json.lines.map((line): CardLine => ({
    ...line,
    was: money(line.was),
    otherwise: money(line.otherwise),
  }));
  const alternatives = json.alternatives.map((each) => ({ ...each, owner: money(each.owner) }));
  return { ...(json as unknown as Card), saving, lines, alternatives };
}
