import type { CommandContext } from "../context.ts";
import { makeSecrets } from "../generate/secrets.ts";

/** Makes the missing secrets of a folder, and prints the paths of the new files. */
export function runGenerateSecrets(out: string, { stdout }: CommandContext): void {
  for (const path of makeSecrets(out)) stdout.write(`${path}\n`);
}
