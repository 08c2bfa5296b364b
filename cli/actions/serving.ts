import type { FocusDraft, FocusVersion } from "../../domain/focus-version.ts";
import { readServingDimensions } from "../../domain/serving/dimension.ts";
import type { SplitRule } from "../../domain/serving/split-rule.ts";
import { FOCUS_FORMATS, type ServingFormat } from "../../reports/format/names.ts";
import { objectionTo, type ReportKind } from "../../reports/question/question.ts";
import { readSpan } from "../../reports/question/span.ts";
import { spanJson } from "../../reports/report/json.ts";
import { TooManyGroupsError } from "../../reports/report/groups.ts";
import { servingCsv, servingNdjson } from "../../reports/serving/flat.ts";
import { explainServing } from "../../reports/serving/explain-serving.ts";
import { servingExplanationText } from "../../reports/serving/explain-text.ts";
import { servingJson } from "../../reports/serving/json.ts";
import { readServingFilters } from "../../reports/serving/question.ts";
import { readServing, type ServingReport } from "../../reports/serving/read-serving.ts";
import { servingText } from "../../reports/serving/table.ts";
import { readUnmatched, type UnmatchedModel } from "../../reports/serving/unmatched.ts";
import { exportServices } from "../../reports/focus/services.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { CommandError, orWrongUse, type CommandContext } from "../context.ts";
import { keptPolicies } from "../kept-policies.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { focusSettingOf, refuseFocusOptions, withOption, writeFocusFile } from "../report/focus.ts";
import { openLedger } from "../store.ts";
import { writeOut } from "../write-out.ts";

/** The options of `gpu-ledger serving`. */
export interface ServingOptions {
  readonly kind: ReportKind;
  readonly by: string;
  readonly where: readonly string[];
  readonly policy?: string;
  readonly rule?: SplitRule;
  readonly format: string;
  readonly explain?: true;
  readonly check?: true;
  readonly listPrices?: true;
  readonly focusVersion?: FocusVersion;
  readonly focusDraft?: FocusDraft;
  readonly out?: string;
  readonly config?: string;
}

type Writer = (report: ServingReport, unmatched: readonly UnmatchedModel[]) => string | Uint8Array;

const WRITERS: Readonly<Record<ServingFormat, Writer>> = {
  table: servingText,
  json: (report, unmatched) => `${JSON.stringify({ ...servingJson(report), unmatched }, null, 2)}\n`,
  ndjson: servingNdjson,
  csv: (report) => Buffer.from(servingCsv(report)),
};

/** Writes a report of the cost of inference in the format of the options. */
export async function runServing(name: string, options: ServingOptions, context: CommandContext): Promise<void> {
  const { span } = orWrongUse("span", readSpan(name, Date.now()));
  const { by } = orWrongUse("--by", readServingDimensions(options.by));
  const { where } = orWrongUse("--where", readServingFilters(options.where));
  const { kind, format } = options;
  const objection = objectionTo({ kind, span });
  if (objection !== undefined) throw new CommandError(`--kind: ${objection}`, 2);
  if (options.explain === true && format !== "table" && format !== "json")
    throw new CommandError(`--explain: printed as table or json, not as ${format}`, 2);
  const focus = FOCUS_FORMATS[format];
  refuseFocusOptions(options, focus);
  const { config: given } = loadLedgerConfig(options.config, context.env);
  const [policy] = keptPolicies(ledgerOf(given), options.policy === undefined ? [] : [options.policy]);
  const rules = ledgerOf(given).serving.rules.map(({ rule }) => rule);
  const rule = options.rule ?? rules[0]!;
  if (!rules.includes(rule))
    throw new CommandError(`--rule ${rule}: must be a rule of serving.rules: ${rules.join(", ")}`, 2);
  const { store, config, ledger } = await openLedger(given, context);
  try {
    const question = { policy, rule, kind, span, where };
    if (options.explain === true) {
      const explanation = await explainServing(store, question, ledger.book.currency);
      const text =
        format === "json"
          ? `${JSON.stringify({ ...explanation, span: spanJson(span) }, null, 2)}\n`
          : servingExplanationText(explanation);
      await writeOut(context, options.out, [text]);
      return;
    }
    if (focus !== undefined) {
      const setting = focusSettingOf(config, ledger, { ...options, policy });
      const way = { format: focus, isChecked: options.check === true, listPrices: options.listPrices === true };
      const exported = exportServices(store, question, setting, way);
      await writeFocusFile(context, await exported.catch(withOption), options.out);
      return;
    }
    const report = await readServing(store, { ...question, by }, ledger.book.currency);
    const unmatched = await readUnmatched(store, question, ledgerOf(config).serving.models);
    await writeOut(context, options.out, [WRITERS[format as ServingFormat](report, unmatched)]);
  } catch (error) {
    if (error instanceof TooManyGroupsError) throw new CommandError(error.message);
    throw error;
  } finally {
    await store.close();
  }
}
