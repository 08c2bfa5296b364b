import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Posting } from "./webhook.ts";
import type { StoredCard } from "../advice/read-cards.ts";
import { changeFileOf } from "../advice/change-file.ts";
import { cardJson } from "../advice/stored-card-json.ts";

/**
 * Returns a card for a webhook: JSON with `card`, as the API has it, and `file`, its change with `name` and `text`, or null if a name in the
 * change is not a valid name in Kubernetes. A card of one window has one idempotency key.
 */
export function postingOfCard(stored: StoredCard): Posting {
  const { card } = stored;
  const content = Buffer.from(JSON.stringify({ card: cardJson(stored), file: changeFileOf(card) ?? null }));
  return {
    name: `${card.id}.json`,
    mediaType: "application/json",
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
    read: () => Readable.from([content]),
    idempotencyKey: `card/${card.id}/${card.window.until}`,
    headers: { "x-gpu-ledger-card": card.id },
  };
}
