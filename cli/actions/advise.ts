import { readDimensions } from "../../domain/charge/dimension.ts";
import { lastDays, makeCards } from "../../processors/ledger/advice/make-cards.ts";
import type { PrintFormat } from "../../reports/format/names.ts";
import { readCameTrue } from "../../reports/advice/came-true.ts";
import { readSpan } from "../../reports/question/span.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import { readMarks } from "../../reports/advice/marks.ts";
import { printCards } from "../advise/cards.ts";
import { printOutcomes } from "../advise/outcomes.ts";
import { compareBills, readWhatIfFile } from "../advise/what-if.ts";
import { CommandError, orWrongUse, type CommandContext } from "../context.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { openLedger, type OpenLedger } from "../store.ts";

/** The options of `gpu-ledger advise`. */
export interface AdviseOptions {
  readonly whatIf?: string;
  readonly by: string;
  readonly team?: string;
  readonly kind?: string;
  readonly card?: string;
  readonly outcomes?: boolean;
  readonly all?: true;
  readonly config?: string;
  readonly format: PrintFormat;
}

/** Prints cards, their outcomes, or a bill after a change. */
export async function runAdvise(
  name: string | undefined,
  options: AdviseOptions,
  context: CommandContext,
): Promise<void> {
  const { config } = loadLedgerConfig(options.config, context.env);
  const { format, team, kind, card, all = false } = options;
  const spanOf = (text: string) => orWrongUse("span", readSpan(text, Date.now())).span;
  const write = (text: string) => void context.stderr.write(text);
  if (options.whatIf !== undefined) {
    const { by } = orWrongUse("--by", readDimensions(options.by));
    const [span, file] = [spanOf(name ?? "lastmonth"), readWhatIfFile(options.whatIf)];
    const compared = await withLedger((ledger) => compareBills(ledger, file, { span, by, format, write }));
    context.stdout.write(compared);
    return;
  }
  if (options.outcomes) {
    const { book, policies } = ledgerOf(config);
    const of = { policy: policies[0].name, now: Date.now(), teams: "all" } as const;
    const outcomes = await withLedger(({ store }) => readCameTrue(store, of));
    const ofTeam = outcomes.filter((each) => team === undefined || each.card.subject.team === team);
    context.stdout.write(printOutcomes(ofTeam, { currency: book.currency, format }));
    return;
  }
  const window = name === undefined ? lastDays(config.advice.days, Date.now()) : spanOf(name);
  const days = wholeDays(window);
  const [advice, marks] = await withLedger(async ({ store, ledger }) => [
    await makeCards(store, ledger, { window: days, advice: config.advice }),
    await readMarks(store),
  ]);
  const printed = printCards(advice, { team, kind, card, format, all, marks, now: Date.now() });
  if (printed === undefined) throw new CommandError(`--card ${card}: there is no such card in this time`, 2);
  context.stdout.write(printed);

  async function withLedger<Result>(work: (open: OpenLedger) => Promise<Result>): Promise<Result> {
    const open = await openLedger(config, context);
    try {
      return await work(open);
    } finally {
      await open.store.close();
    }
  }
}

/** Returns a span without the parts of days at its ends. Evidence is judged by whole days. */
function wholeDays({ from, until }: { readonly from: number; readonly until: number }) {
  const days = { from: Math.ceil(from / DAY_MILLIS) * DAY_MILLIS, until: Math.floor(until / DAY_MILLIS) * DAY_MILLIS };
  if (days.from >= days.until) throw new CommandError("span: must have a whole day in UTC", 2);
  return days;
}
