import { periodOf } from "../../domain/period.ts";
import { nodeOf, readExportLines } from "../../reports/explain/export-lines.ts";
import { explain } from "../../reports/explain/read-explanation.ts";
import { explanationText, exportLinesText } from "../../reports/explain/text.ts";
import { readGpuAt } from "../../reports/question/line.ts";
import { readFilters, type ChargesQuestion, type Filter } from "../../reports/question/question.ts";
import { readSpan } from "../../reports/question/span.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { periodOfArgument } from "../period.ts";
import { CommandError, orWrongUse, type CommandContext } from "../context.ts";
import { keptPolicies } from "../kept-policies.ts";
import { openLedger } from "../store.ts";
import { loadLedgerConfig } from "../ledger-config.ts";

/** The options of `gpu-ledger explain`. */
export interface ExplainOptions {
  readonly config?: string;
  readonly team?: string;
  readonly month?: string;
  readonly span?: string;
  readonly where: readonly string[];
  readonly state?: string;
  readonly namespace?: string;
  readonly policy?: string;
  readonly format: "text" | "json";
}

/** Prints the explanation of a line or of the charges of the options. */
export async function runExplain(
  line: string | undefined,
  options: ExplainOptions,
  context: CommandContext,
): Promise<void> {
  const { config } = loadLedgerConfig(options.config, context.env);
  const [policy] = keptPolicies(ledgerOf(config), options.policy === undefined ? [] : [options.policy]);
  const question =
    line === undefined
      ? { policy, ...ofOptions(options) }
      : { policy, ...orWrongUse("line", readGpuAt(line)).line, where: whereOf(options) };
  const { store, ledger } = await openLedger(config, context);
  try {
    const explanation = await explain(store, question);
    const exportLines = "gpu" in question ? await readExportLines(store, nodeOf(question)) : [];
    const text =
      options.format === "json"
        ? JSON.stringify({ ...explanation, exportLines }, null, 2)
        : [explanationText(explanation, ledger.book.currency), ...exportLinesText(exportLines)].join("\n\n");
    context.stdout.write(`${text}\n`);
  } finally {
    await store.close();
  }
}

/** The most common conditions. Each is an option of its own. */
const SHORT = ["team", "state", "namespace"] as const;

function ofOptions(options: ExplainOptions): Omit<ChargesQuestion, "policy"> {
  const { month, span } = options;
  if (month !== undefined && span !== undefined) throw new CommandError("--month and --span: give only one of them", 2);
  const where = whereOf(options);
  if (span !== undefined)
    return { kind: "showback", span: orWrongUse("--span", readSpan(span, Date.now())).span, where };
  return { kind: "chargeback", span: month === undefined ? periodOf(Date.now()) : periodOfArgument(month), where };
}

function whereOf(options: ExplainOptions): readonly Filter[] {
  const short = SHORT.flatMap((dimension) => {
    const value = options[dimension];
    return value === undefined ? [] : [{ dimension, values: [value] }];
  });
  return [...short, ...orWrongUse("--where", readFilters(options.where)).where];
}
