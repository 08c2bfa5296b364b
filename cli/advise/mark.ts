import { Option, type Command } from "commander";
import { CARD_KINDS } from "../../domain/advice/card.ts";
import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";
import { momentText } from "../../domain/time.ts";
import { DECISIONS, writeMark, type Decision } from "../../reports/advice/marks.ts";
import { subjectText } from "../../reports/advice/text.ts";
import { readAdviceCard } from "../../reports/read/advice.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { openStore } from "../store.ts";
import { whoRuns } from "../who.ts";

interface Options {
  readonly as: Decision;
  readonly why: string;
  readonly until?: string;
  readonly by?: string;
  readonly config?: string;
}

/** Adds `gpu-ledger advise mark`: a person's decision about a card, with its reason. */
export function addMark(advise: Command, { stdout, env }: CommandContext): void {
  advise
    .command("mark")
    .description("record a decision about a card: taken, dismissed, or open again; dismissed cards are hidden")
    .argument("<card>", "the id of a card that the leading processor has stored")
    .addOption(new Option("--as <decision>", "the decision").choices(DECISIONS).makeOptionMandatory())
    .requiredOption("--why <text>", "the reason, for the page of the card and the audit trail")
    .option("--until <time>", "the end of a dismissal: a date or time in UTC; default: no end")
    .option("--by <name>", "the person who decides (default: the current user)")
    .option("--config <file>", "the configuration")
    .action(async (id: string, { as: what, why, until: text, by = whoRuns(), config: path }: Options) => {
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
        stdout.write(
          `${id} is ${what}${end}: ${CARD_KINDS[card.kind]}, ${subjectText(card)} of ${card.subject.team}\n`,
        );
      } finally {
        await store.close();
      }
    });
}

function endOf(text: string | undefined, what: Decision, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (what !== "dismissed") throw new CommandError("--until: only a dismissal has an end", 2);
  const until = instantOf(text);
  if (until === undefined) throw new CommandError(`--until ${text}: must be ${INSTANT_FORM}`, 2);
  if (until <= now) throw new CommandError(`--until ${text}: must be in the future`, 2);
  return until;
}
