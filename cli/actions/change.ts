import { changeJson } from "../../reports/change/change-json.ts";
import { readChange, timeBefore } from "../../reports/change/read-change.ts";
import { causeWords, unknownBefore } from "../../reports/change/words.ts";
import { readFilters } from "../../reports/question/question.ts";
import { readSpan } from "../../reports/question/span.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { CommandError, orWrongUse, type CommandContext } from "../context.ts";
import { keptPolicies } from "../kept-policies.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { openLedger } from "../store.ts";
import { renderTable } from "../table.ts";

/** The options of `gpu-ledger change`. */
export interface ChangeOptions {
  readonly compare?: string;
  readonly where: readonly string[];
  readonly policy?: string;
  readonly top: string;
  readonly format: "table" | "json";
  readonly config?: string;
}

/** Prints the change of a cost with its largest parts. */
export async function runChange(name: string, options: ChangeOptions, context: CommandContext): Promise<void> {
  const now = Date.now();
  const { span } = orWrongUse("span", readSpan(name, now));
  const compared = options.compare === undefined ? undefined : orWrongUse("--compare", readSpan(options.compare, now));
  const { where } = orWrongUse("--where", readFilters(options.where));
  const top = Number(options.top);
  if (!Number.isSafeInteger(top) || top < 1)
    throw new CommandError(`--top ${options.top}: a number of parts, 1 or more`, 2);
  const { config } = loadLedgerConfig(options.config, context.env);
  const [policy] = keptPolicies(ledgerOf(config), options.policy === undefined ? [] : [options.policy]);
  const { store, ledger } = await openLedger(config, context);
  try {
    const before = compared?.span ?? (await timeBefore(store, span));
    const change = await readChange(store, { policy, where, before, after: span });
    const { currency } = ledger.book;
    const json = changeJson(change, currency, top);
    if (change.chargedSince !== null) context.stderr.write(`${unknownBefore(change.chargedSince)}\n`);
    if (options.format === "json") {
      context.stdout.write(`${JSON.stringify(json, undefined, 2)}\n`);
      return;
    }
    const lines = [
      `${change.change} ${currency}: ${change.costBefore} ${currency} became ${change.costAfter} ${currency}, from ${before.name} to ${span.name}`,
      "",
      renderTable(
        ["cause", "parts", "change"],
        change.causes.map(({ cause, cost, parts }) => [causeWords(cause, cost), String(parts), cost]),
      ),
      "",
      renderTable(
        ["team", "workload", "cause", "change"],
        json.parts.map(({ team, namespace, workload, cause, cost }) => [
          team,
          workload === "" ? "not held" : `${namespace}/${workload}`,
          causeWords(cause, cost),
          cost,
        ]),
      ),
    ];
    if (json.total > top) lines.push("", `${json.total - top} smaller parts: ${json.rest} ${currency}`);
    context.stdout.write(`${lines.join("\n")}\n`);
  } finally {
    await store.close();
  }
}
