import { counted } from "../../domain/counted.ts";
import { formatAmount, lastUnits } from "../../domain/exact/units.ts";
import { openHours, remeterHour, tryHour, type OpenHour } from "../../processors/ledger/hours/remeter.ts";
import { readSpan } from "../../reports/question/span.ts";
import { formatTable } from "../../reports/format/table.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { orWrongUse, type CommandContext } from "../context.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { openLedger } from "../store.ts";

/** The options of `gpu-ledger remeter`. */
export interface RemeterOptions {
  readonly dryRun?: true;
  readonly config?: string;
  readonly format: "text" | "json";
}

/** The changes by metering again: the cost of each team in the hours that change, in last units. */
interface Changes {
  readonly hours: number;
  readonly changed: number;
  readonly teams: ReadonlyMap<string, { readonly before: bigint; readonly after: bigint }>;
}

/** Meters open hours again, or prints what that would change by team. */
export async function runRemeter(name: string, options: RemeterOptions, context: CommandContext): Promise<void> {
  const { span } = orWrongUse("span", readSpan(name, Date.now()));
  const { config: given } = loadLedgerConfig(options.config, context.env);
  const { store, config, ledger } = await openLedger(given, context);
  const { rules } = rulesOfConfig(config);
  try {
    const hours = await openHours(store, span, Date.now());
    const begun = progressOf(hours, context);
    if (options.dryRun !== true) {
      for (const hour of begun()) await remeterHour(store, hour, rules, Date.now());
      context.stdout.write(`metered ${counted(hours.length, "hour")} again; the leader charges them now\n`);
      return;
    }
    const teams = new Map<string, { before: bigint; after: bigint }>();
    let changed = 0;
    for (const hour of begun()) {
      const { before, after } = await tryHour(store, hour, rules, Date.now());
      const of = [...new Set([...before.keys(), ...after.keys()])].map((team) => ({
        team,
        before: before.get(team) ?? 0n,
        after: after.get(team) ?? 0n,
      }));
      if (of.every((each) => each.before === each.after)) continue;
      changed += 1;
      for (const { team, ...costs } of of) {
        const sum = teams.get(team) ?? { before: 0n, after: 0n };
        teams.set(team, { before: sum.before + costs.before, after: sum.after + costs.after });
      }
    }
    const changes = { hours: hours.length, changed, teams };
    const text = options.format === "json" ? changesJson(changes) : changesText(changes, ledger.book.currency);
    context.stdout.write(`${text}\n`);
  } finally {
    await store.close();
  }
}

const EVERY_MILLIS = 10_000;

/** Returns the hours one after the other, and prints how far the command is. */
function progressOf(hours: readonly OpenHour[], { stderr }: CommandContext): () => Generator<OpenHour> {
  return function* () {
    let shownAt = performance.now();
    for (const [index, hour] of hours.entries()) {
      yield hour;
      if (performance.now() - shownAt < EVERY_MILLIS) continue;
      shownAt = performance.now();
      stderr.write(`${index + 1} of ${counted(hours.length, "hour")}\n`);
    }
  };
}

function changesText({ hours, changed, teams }: Changes, currency: string): string {
  const head = `${counted(hours, "hour")} of open periods, of which ${changed} would change. Closed periods stay as they are.`;
  if (changed === 0) return head;
  const rows = [...teams].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const table = formatTable(
    ["team", `charged in ${currency}`, "by this release", "difference"],
    rows.map(([team, { before, after }]) => [
      { text: team },
      ...[before, after, after - before].map((amount) => ({ number: amountText(amount) })),
    ]),
  );
  return `${head}\n\n${table}`.trimEnd();
}

function changesJson({ hours, changed, teams }: Changes): string {
  const ofTeams = [...teams]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([team, { before, after }]) => ({
      team,
      before: amountText(before),
      after: amountText(after),
      difference: amountText(after - before),
    }));
  return JSON.stringify({ hours, changed, teams: ofTeams }, null, 2);
}

function amountText(amount: bigint): string {
  return formatAmount(lastUnits<"currency">(amount));
}
