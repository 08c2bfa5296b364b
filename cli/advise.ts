import { Option, type Command } from "commander";
import { CARD_KINDS } from "../domain/advice/card.ts";
import { readDimensions } from "../domain/charge/dimension.ts";
import { lastDays, makeCards } from "../processors/ledger/advice/make-cards.ts";
import { readCameTrue } from "../reports/read/came-true.ts";
import { readSpan } from "../reports/question/span.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { DAY_MILLIS } from "../domain/time.ts";
import { readMarks } from "../reports/advice/marks.ts";
import { CARD_FORMATS, printCards } from "./advise/cards.ts";
import { printOutcomes } from "./advise/outcomes.ts";
import { addMark } from "./advise/mark.ts";
import { compareBills, readWhatIfFile } from "./advise/what-if.ts";
import { CommandError, orWrongUse, type CommandContext } from "./context.ts";
import { loadLedgerConfig } from "./ledger-config.ts";
import { openStore } from "./store.ts";

interface Options {
  readonly whatIf?: string;
  readonly by: string;
  readonly team?: string;
  readonly kind?: string;
  readonly card?: string;
  readonly outcomes?: boolean;
  readonly all?: true;
  readonly config?: string;
  readonly format: (typeof CARD_FORMATS)[number];
}

/** Adds `gpu-ledger advise`: cards with their savings, or the bill of a time beside the bill after a change. */
export function addAdvise(program: Command, context: CommandContext): void {
  // Options after `mark` belong to `mark`, although `advise` has some of the same names.
  const advise = program.enablePositionalOptions().command("advise").enablePositionalOptions();
  addMark(advise, context);
  advise
    .description(
      "recommend changes with what they would have saved, or compute a past bill after a change; see docs/advice.md",
    )
    .argument(
      "[span]",
      "2026-03, 2026-03-01/2026-03-15, 7d, lastmonth, …; default: the last whole days, or lastmonth with --what-if",
    )
    .option("--team <team>", "only cards of a team")
    .addOption(new Option("--kind <kind>", "only cards of a kind").choices(Object.keys(CARD_KINDS)))
    .option("--card <id>", "one card with its evidence, its change and both bills")
    .option("--outcomes", "the promised and the real savings of cards that ended or were taken")
    .option("--all", "dismissed cards too")
    .option("--what-if <file>", "a change: releases, smaller parts, other GPUs, fewer nodes, prices, a policy")
    .option("--by <dimensions>", "the dimensions of the lines, with --what-if", "team")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "the format of the output").choices([...CARD_FORMATS]).default("table"))
    .action(async (name: string | undefined, options: Options) => {
      const { config } = loadLedgerConfig(options.config, context.env);
      const { format, team, kind, card, all = false } = options;
      const spanOf = (text: string) => orWrongUse("span", readSpan(text, Date.now())).span;
      const write = (text: string) => void context.stderr.write(text);
      if (options.whatIf !== undefined) {
        const { by } = orWrongUse("--by", readDimensions(options.by));
        const [span, file] = [spanOf(name ?? "lastmonth"), readWhatIfFile(options.whatIf)];
        const compared = await withStore((store) => compareBills(store, config, file, { span, by, format, write }));
        context.stdout.write(compared);
        return;
      }
      if (options.outcomes) {
        const { book, policies } = ledgerOf(config);
        const of = { policy: policies[0].name, now: Date.now(), teams: "all" } as const;
        const outcomes = await withStore((store) => readCameTrue(store, of));
        const ofTeam = outcomes.filter((each) => team === undefined || each.card.subject.team === team);
        context.stdout.write(printOutcomes(ofTeam, { currency: book.currency, format }));
        return;
      }
      const window = name === undefined ? lastDays(config.advice.days, Date.now()) : spanOf(name);
      const days = wholeDays(window);
      const [advice, marks] = await withStore(async (store) => [
        await makeCards(store, ledgerOf(config), { window: days, advice: config.advice }),
        await readMarks(store),
      ]);
      const printed = printCards(advice, { team, kind, card, format, all, marks, now: Date.now() });
      if (printed === undefined) throw new CommandError(`--card ${card}: there is no such card in this time`, 2);
      context.stdout.write(printed);

      async function withStore<Result>(work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<Result>) {
        const store = await openStore(config);
        try {
          return await work(store);
        } finally {
          await store.close();
        }
      }
    });
}

/** Returns a span without the parts of days at its ends. Evidence is judged by whole days. */
function wholeDays({ from, until }: { readonly from: number; readonly until: number }) {
  const days = { from: Math.ceil(from / DAY_MILLIS) * DAY_MILLIS, until: Math.floor(until / DAY_MILLIS) * DAY_MILLIS };
  if (days.from >= days.until) throw new CommandError("span: must have a whole day in UTC", 2);
  return days;
}
