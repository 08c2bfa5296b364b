import type { FocusVersion } from "../../domain/focus-version.ts";
import { readDimensions } from "../../domain/charge/dimension.ts";
import { LinesReplacedError } from "../../reports/lines/fixed.ts";
import { planLines } from "../../reports/lines/portions.ts";
import {
  FOCUS_FORMATS,
  LINE_FORMATS,
  SUM_FORMATS,
  type LineFormat,
  type SumFormat,
} from "../../reports/format/names.ts";
import { lineBytes } from "../../reports/lines/line-bytes.ts";
import { PdfError } from "../../reports/format/pdf.ts";
import { objectionTo, readFilters, type ReportKind } from "../../reports/question/question.ts";
import { SUM_WRITERS } from "../../reports/render/formats.ts";
import { TooManyGroupsError } from "../../reports/report/groups.ts";
import { readReport } from "../../reports/report/read-report.ts";
import { provisionalSentence } from "../../reports/report/provisional.ts";
import type { Report } from "../../reports/report/report.ts";
import { readSpan } from "../../reports/question/span.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { CommandError, orWrongUse, type CommandContext } from "../context.ts";
import { keptPolicies } from "../kept-policies.ts";
import { focusSettingOf, refuseFocusOptions, writeFocus } from "../report/focus.ts";
import { openLedger } from "../store.ts";
import { writeOut } from "../write-out.ts";
import { loadLedgerConfig } from "../ledger-config.ts";

/** The options of `gpu-ledger report`. */
export interface ReportOptions {
  readonly kind: ReportKind;
  readonly by: string;
  readonly where: readonly string[];
  readonly policy: readonly string[];
  readonly lines?: true;
  readonly check?: true;
  readonly listPrices?: true;
  readonly focusVersion?: FocusVersion;
  readonly format?: string;
  readonly out?: string;
  readonly linkTo?: string;
  readonly config?: string;
}

/** Writes a report in the format of the options. */
export async function runReport(name: string, options: ReportOptions, context: CommandContext): Promise<void> {
  const { span } = orWrongUse("span", readSpan(name, Date.now()));
  const { by } = orWrongUse("--by", readDimensions(options.by));
  const { where } = orWrongUse("--where", readFilters(options.where));
  const objection = objectionTo({ kind: options.kind, span });
  if (objection !== undefined) throw new CommandError(`--kind: ${objection}`, 2);
  const ofSums = [...SUM_FORMATS, ...Object.keys(FOCUS_FORMATS)];
  const formats: readonly string[] = options.lines === true ? LINE_FORMATS : ofSums;
  const format = options.format ?? formats[0]!;
  if (!formats.includes(format))
    throw new CommandError(
      `--format ${format}: ${options.lines === true ? "lines are" : "sums are"} exported as ${formats.join(", ")}`,
      2,
    );
  const focus = FOCUS_FORMATS[format];
  refuseFocusOptions(options, focus);
  const { config: given } = loadLedgerConfig(options.config, context.env);
  const [first, ...others] = keptPolicies(ledgerOf(given), options.policy);
  const question = { policy: first, kind: options.kind, span, by, where };
  const { store, config, ledger } = await openLedger(given, context);
  try {
    if (focus !== undefined) {
      if (others.length > 0) throw new CommandError(`--format ${format} exports only one policy`, 2);
      const setting = focusSettingOf(config, ledger, { ...options, policy: first });
      await writeFocus(context, store, question, setting, { ...options, format: focus });
      return;
    }
    if (options.lines === true) {
      if (others.length > 0) throw new CommandError("--lines exports only one policy", 2);
      const plan = await planLines(store, question);
      await writeOut(context, options.out, lineBytes(store, plan, format as LineFormat));
      return;
    }
    const ask = (policy: string): Promise<Report> => readReport(store, { ...question, policy }, ledger.book);
    const reports: [Report, ...Report[]] = [await ask(first)];
    for (const policy of others) reports.push(await ask(policy));
    const { version, env } = context;
    const making = { store, version, madeAt: Date.now(), server: options.linkTo, env };
    const bytes = await SUM_WRITERS[format as SumFormat](reports, making);
    await writeOut(context, options.out, bytes);
    const asked = ledger.policies.filter(({ name }) => reports.some(({ policy }) => policy === name));
    const provisional = provisionalSentence(asked);
    if (provisional !== undefined) context.stderr.write(`${provisional}\n`);
  } catch (error) {
    if (error instanceof TooManyGroupsError || error instanceof LinesReplacedError || error instanceof PdfError)
      throw new CommandError(error.message);
    throw error;
  } finally {
    await store.close();
  }
}
