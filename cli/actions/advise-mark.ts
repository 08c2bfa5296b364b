import { CARD_KINDS } from "../../domain/advice/card.ts";
import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";
import { momentText } from "../../domain/time.ts";
import { writeMark, type Decision } from "../../reports/advice/marks.ts";
import { subjectText } from "../../reports/advice/text.ts";
import { readAdviceCard } from "../../reports/advice/read-cards.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { openStore } from "../store.ts";
import { whoRuns } from "../who.ts";

/** The options of `gpu-ledger advise mark`. */
export interface AdviseMarkOptions {
  readonly as: Decision;
  readonly why: string;
  readonly until?: string;
  readonly by?: string;
  readonly config?: string;
}

/** Writes a decision about a card. Fails with a `CommandError` if the card does not exist. */
export async function runAdviseMark(
  id: string,
  { as: what, why, until: text, by = whoRuns(), config: path }: AdviseMarkOptions,
  { stdout, env }: CommandContext,
): Promise<void> {
  const now = Date.now();
  const until = endOf(text, what, now);
  if (why.trim() === "") throw new CommandError("--why: must have the reason", 2);
  const store = await openStore(loadConfig(path, env).config);
  try {
    const found = await readAdviceCard(store, id, { teams: "all" });
    if (found === undefined) throw new CommandError(`${id}: no stored card has this id`, 2);
    await writeMark(store, id, { what, at: now, until, who: by, why });
    const { card } = found.stored;
    const end = until === undefined ? "" : ` until ${momentText(until)}`;
    stdout.write(`${id} is ${what}${end}: ${CARD_KINDS[card.kind]}, ${subjectText(card)} of ${card.subject.team}\n`);
  } finally {
    await store.close();
  }
}

function endOf(text: string | undefined, what: Decision, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (what !== "dismissed") throw new CommandError("--until: only a dismissal has an end", 2);
  const until = instantOf(text);
  if (until === undefined) throw new CommandError(`--until ${text}: must be ${INSTANT_FORM}`, 2);
  if (until <= now) throw new CommandError(`--until ${text}: must be in the future`, 2);
  return until;
}
