import type { FocusDraft, FocusVersion } from "../../domain/focus-version.ts";
import { counted } from "../../domain/counted.ts";
import { exportFocus } from "../../reports/focus/export.ts";
import type { FocusExport, FocusWay } from "../../reports/focus/file.ts";
import { FocusCheckError } from "../../reports/focus/check/error.ts";
import { focusSetting, objectionToDraft, type FocusSetting } from "../../reports/focus/setting.ts";
import { unpricedSentence, type FileManifest, type FocusManifest } from "../../reports/focus/manifest.ts";
import { ListPricedError } from "../../reports/read/list-priced.ts";
import type { ChargesQuestion } from "../../reports/question/question.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { writeOut } from "../write-out.ts";

/** The destination of a FOCUS file, and whether it must follow FOCUS's rules. */
export interface FocusOptions {
  readonly format: FocusWay["format"];
  readonly out?: string;
  readonly check?: true;
  readonly listPrices?: true;
}

/** The options that only files of FOCUS have. */
interface OnlyFocus {
  readonly check?: true;
  readonly focusVersion?: FocusVersion;
  readonly focusDraft?: FocusDraft;
}

const FLAGS = { check: "--check", focusVersion: "--focus-version", focusDraft: "--focus-draft" } as const;

/** Refuses the options of FOCUS with another format. Fails with a `CommandError`. */
export function refuseFocusOptions(options: OnlyFocus, focus: FocusWay["format"] | undefined): void {
  const given = (Object.keys(FLAGS) as (keyof typeof FLAGS)[]).find((name) => options[name] !== undefined);
  if (focus === undefined && given !== undefined) throw new CommandError(`${FLAGS[given]} needs --format focus`, 2);
}

/** Returns the setting of a file by the options of a command. Fails with a `CommandError` for a draft of another version. */
export function focusSettingOf(
  { focus }: Pick<Config, "focus">,
  ledger: Pick<Ledger, "book">,
  { policy, focusVersion, focusDraft }: OnlyFocus & { readonly policy: string },
): FocusSetting {
  const setting = focusSetting(focus, ledger, { policy, version: focusVersion, draft: focusDraft });
  const objection = objectionToDraft(setting);
  if (objection !== undefined) throw new CommandError(`--focus-draft: ${objection}`, 2);
  return setting;
}

/** Writes the charges of a question as FOCUS. Fails like {@link writeFocusFile}. */
export async function writeFocus(
  context: CommandContext,
  store: StoreClient,
  question: ChargesQuestion,
  setting: FocusSetting,
  { format, out, check, listPrices }: FocusOptions,
): Promise<void> {
  const way = { format, isChecked: check === true, listPrices: listPrices === true };
  const exported = exportFocus(store, question, setting, way);
  await writeFocusFile(context, await exported.catch(withOption), out);
}

/** Throws the refusal of list prices with the option that allows them. */
export function withOption(error: unknown): never {
  throw error instanceof ListPricedError ? new CommandError(`${error.message}; --list-prices writes them`) : error;
}

/**
 * Writes a FOCUS file, and its manifest beside the file. Without a file, the manifest goes in sentences to standard error. Fails with a
 * `CommandError` if a checked file breaks a rule. Then there is no file.
 */
export async function writeFocusFile<Manifest extends FileManifest>(
  context: CommandContext,
  { bytes, manifest }: FocusExport<Manifest>,
  out: string | undefined,
): Promise<void> {
  try {
    await writeOut(context, out, bytes);
  } catch (error) {
    throw error instanceof FocusCheckError ? new CommandError(error.message) : error;
  }
  if (out === undefined) context.stderr.write(`${sentences(manifest()).join("\n")}\n`);
  else await writeOut(context, `${out}.manifest.json`, [`${JSON.stringify(manifest(), null, 2)}\n`]);
}

function sentences(manifest: FileManifest): readonly string[] {
  return [
    isOfCharges(manifest) ? chargesSentences(manifest) : counted(manifest.rows, "row"),
    manifest.check === null ? [] : "the file passes every rule of the check",
  ].flat();
}

function isOfCharges(manifest: FileManifest): manifest is FocusManifest {
  return manifest.dataset === "CostAndUsage";
}

function chargesSentences(manifest: FocusManifest): readonly string[] {
  const { rows, sums, currency } = manifest;
  const sum = `${counted(rows, "row")}: ${sums.EffectiveCost} ${currency}, ${sums.x_GpuHours} GPU-hours`;
  return [sum, unpricedSentence(manifest) ?? []].flat();
}
