import { confidenceOf } from "../../domain/advice/card.ts";
import { perMonth, writeCard } from "../../domain/advice/card-json.ts";
import type { Window } from "../../domain/advice/evidence.ts";
import { formatAmount } from "../../domain/exact/units.ts";
import { isoText } from "../../domain/time.ts";
import type { StoredCard } from "./read-cards.ts";
import { markJson } from "./marks.ts";

/** Returns a card as the API has it: amounts as decimals, times in ISO 8601. */
export function cardJson({ card, since, mark }: StoredCard): object {
  const { from, window, saving, ...rest } = writeCard(card);
  return {
    ...rest,
    window: windowJson(window),
    from: isoText(from),
    since: isoText(since),
    saving: { ...saving, ownerPerMonth: formatAmount(perMonth(card.saving.owner, card.window)) },
    confidence: confidenceOf(card),
    mark: markJson(mark),
  };
}

/** Returns a window with times in ISO 8601. */
export function windowJson({ from, until }: Window): object {
  return { from: isoText(from), until: isoText(until) };
}
