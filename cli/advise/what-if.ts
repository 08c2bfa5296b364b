import { readFileSync } from "node:fs";
import type { PriceBook } from "../../domain/price/book.ts";
import { readBook } from "../../domain/price/read.ts";
import { createNodePrices } from "../../processors/ledger/charge/node-prices.ts";
import { prepareChanges } from "../../processors/ledger/what-if/apply.ts";
import { nodesToRemove } from "../../processors/ledger/what-if/fewer-nodes.ts";
import { touchedNodes } from "../../processors/ledger/what-if/touched-nodes.ts";
import { planPacking } from "../../processors/ledger/what-if/pack.ts";
import type { Span } from "../../reports/question/span.ts";
import { writtenBook, type Ledger } from "../../runtime/config/ledger.ts";
import type { OpenLedger } from "../store.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { isNodeChange, readWhatIf, type WhatIf } from "../../runtime/config/what-if.ts";
import { describeProblem, type FileProblem } from "../../runtime/config/file-problem.ts";
import type { Bill } from "../../scenarios/bill.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { CommandError } from "../context.ts";
import { computeBills, createProgress } from "../on-demand-bill.ts";
import { isBillStored, storedBills } from "./stored-bills.ts";
import { printComparison, type ComparisonOptions } from "./comparison.ts";

/** A change of the past, with its file. */
export interface WhatIfFile {
  readonly path: string;
  readonly whatIf: WhatIf;
}

/**
 * Returns the bill of a span beside the bill that it would have been after the change in a file, as text. Fails with a {@link CommandError}
 * for a wrong file, and with a `StoreError`.
 */
export async function compareBills(
  { store, config, ledger }: OpenLedger,
  { whatIf, path }: WhatIfFile,
  asked: Pick<ComparisonOptions, "by" | "format"> & { readonly span: Span; readonly write: (text: string) => void },
): Promise<string> {
  const { span, by, format, write } = asked;
  const other = otherLedger(ledger, config, whatIf, path);
  const ofNodes = whatIf.changes.filter(isNodeChange);
  const removals = ofNodes.filter(({ what }) => what === "remove");
  const isRemoved = await nodesToRemove(store, removals, span);
  const packs = ofNodes.filter(({ what }) => what === "pack");
  const ofUsage = whatIf.changes.filter((change) => !isNodeChange(change));
  const changes = prepareChanges(ofUsage, {
    owners: ledger.owners,
    prices: createNodePrices(other.book),
    freedLeave: whatIf.freed === "leave",
    isRemoved,
    packed: await planPacking(store, packs, { span, isRemoved }),
  });
  const [own] = ledger.policies;
  const [policy] = other.policies;
  const bills = [
    { rules: ledger, policy: own },
    // With the same prices, usage that does not change is charged once for both bills.
    { rules: ledger.book === other.book ? ledger : other, policy, change: changes.apply },
  ] as const;
  const isOfNodes = ledger.book === other.book && own === policy && packs.length === 0;
  const of = { span, by: [...by, "state"] };
  const isStored = isOfNodes && (await isBillStored(store, { ...of, rules: rulesOfConfig(config).rules, policy }));
  const stored = isStored
    ? await storedBills(store, bills, {
        ...of,
        touched: await touchedNodes(store, ofUsage, { span, owners: ledger.owners, isRemoved }),
      })
    : undefined;
  const [was, otherwise] =
    stored ?? ((await computeBills(store, bills, { ...of, onProgress: createProgress(write) })) as [Bill, Bill]);
  const policies = [ledger.policies[0].name, other.policies[0].name];
  return printComparison(
    { was, otherwise, changes, span: span.name, policies },
    { by, currency: ledger.book.currency, format },
  );
}

/** Reads a change from a file. Fails with a {@link CommandError}. */
export function readWhatIfFile(path: string): WhatIfFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError(`--what-if ${path}: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
  const read = readWhatIf(text);
  if ("problems" in read) throw wrongFile(path, read.problems);
  return { path, whatIf: read.value };
}

/** Returns the ledger with the policy and the prices of the change. */
function otherLedger(ledger: Ledger, config: Config, { policy, prices }: WhatIf, path: string): Ledger {
  const { policies } = ledger;
  const chosen = policy === undefined ? policies[0] : policies.find(({ name }) => name === policy);
  if (chosen === undefined) {
    const allowed = `one of: ${policies.map(({ name }) => name).join(", ")}`;
    throw wrongFile(path, [{ key: "policy", value: policy, allowed }]);
  }
  return { ...ledger, book: bookOf(ledger, config, prices, path), policies: [chosen] };
}

function bookOf({ book }: Ledger, config: Config, prices: WhatIf["prices"], path: string): PriceBook {
  if (prices === undefined) return book;
  const read = readBook({ ...writtenBook(config), prices });
  if ("book" in read) return read.book;
  const problems = read.problems.map(({ path: at, allowed }) => ({ key: at.join("."), allowed }));
  throw wrongFile(path, problems);
}

function wrongFile(path: string, problems: readonly FileProblem[]): CommandError {
  return new CommandError(`--what-if ${path}:\n${problems.map(describeProblem).join("\n")}`, 2);
}
