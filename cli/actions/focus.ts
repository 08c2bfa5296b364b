import type { FocusDatasetName } from "../../reports/format/names.ts";
import type { FocusWay } from "../../reports/focus/file.ts";
import { exportReference, NoIssuerError } from "../../reports/focus/reference.ts";
import { focusSetting } from "../../reports/focus/setting.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { periodOfArgument } from "../period.ts";
import { writeFocusFile } from "../report/focus.ts";
import { openLedger } from "../store.ts";

/** The options of `gpu-ledger focus`. */
export interface FocusDatasetOptions {
  readonly format: FocusWay["format"];
  readonly out?: string;
  readonly config?: string;
}

/** Writes a dataset of FOCUS 1.4 beside Cost and Usage. It is always checked. */
export async function runFocus(
  dataset: string,
  month: string | undefined,
  { format, out, ...options }: FocusDatasetOptions,
  context: CommandContext,
): Promise<void> {
  const period = month === undefined ? undefined : periodOfArgument(month);
  const { config: given } = loadLedgerConfig(options.config, context.env);
  const { store, config, ledger } = await openLedger(given, context);
  try {
    const setting = focusSetting(config.focus, ledger, { policy: ledger.policies[0].name, version: "1.4" });
    const question = { period, teams: "all", now: Date.now() } as const;
    const exported = await exportReference(store, dataset as FocusDatasetName, question, setting, format);
    await writeFocusFile(context, exported, out);
  } catch (error) {
    throw error instanceof NoIssuerError ? new CommandError(error.message) : error;
  } finally {
    await store.close();
  }
}
