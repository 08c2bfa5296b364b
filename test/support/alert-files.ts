import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandFolder } from "./command.ts";

/** The default interval at which the quick rules are evaluated: the shortest that the command allows. */
export const QUICK_SECONDS = 5;

/** The files that `gpu-ledger generate alerts` wrote, by name. */
export interface AlertFiles {
  readonly rules: Readonly<Record<string, string>>;
  readonly alertmanager: Readonly<Record<string, string>>;
}

/**
 * Runs the command in a folder with a configuration, and returns the written files. Rules that look back over hours are evaluated every few minutes,
 * and Alertmanager waits so that people get one message. Both get the interval of the quick rules here.
 */
export async function generateQuickAlerts(folder: CommandFolder, config: object): Promise<AlertFiles> {
  const out = join(folder.path, "alerts");
  const path = folder.write("alerts.yaml", { interval: `${QUICK_SECONDS}s`, ...config });
  const args = ["generate", "alerts", "--out", out, "--config", path, "--alertmanager", "full"];
  const { code, stderr } = await folder.run(args);
  if (code !== 0) throw new Error(`no alerts were generated:\n${stderr}`);
  const files = readdirSync(out).map((name) => [name, quick(readFileSync(join(out, name), "utf8"))] as const);
  const isRules = ([name]: readonly [string, string]): boolean => name.endsWith(".rules.yaml");
  return {
    rules: Object.fromEntries(files.filter(isRules)),
    alertmanager: Object.fromEntries(files.filter((file) => !isRules(file))),
  };
}

function quick(text: string): string {
  return text
    .replaceAll(/^( +interval: )\d+[ms]$/gm, `$1${QUICK_SECONDS}s`)
    .replaceAll("keep_firing_for: 4m", `keep_firing_for: ${2 * QUICK_SECONDS}s`)
    .replaceAll(/(group_wait|group_interval): \w+/g, "$1: 5s");
}
