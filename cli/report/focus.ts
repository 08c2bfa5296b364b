import { counted } from "../../domain/counted.ts";
import { exportFocus } from "../../reports/focus/export.ts";
import type { FocusExport, FocusWay } from "../../reports/focus/file.ts";
import { FocusCheckError } from "../../reports/focus/check/error.ts";
import type { FocusSetting } from "../../reports/focus/columns.ts";
import { unpricedSentence, type FocusManifest } from "../../reports/focus/manifest.ts";
import { ListPricedError } from "../../reports/read/list-priced.ts";
import type { ChargesQuestion } from "../../reports/question/question.ts";
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
export async function writeFocusFile(
  context: CommandContext,
  { bytes, manifest }: FocusExport,
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

function sentences(manifest: FocusManifest): readonly string[] {
  const { rows, sums, currency, check } = manifest;
  const sum = `${counted(rows, "row")}: ${sums.EffectiveCost} ${currency}, ${sums.x_GpuHours} GPU-hours`;
  return [
    sum,
    unpricedSentence(manifest) ?? [],
    check === null ? [] : "the file passes every rule of the check",
  ].flat();
}
