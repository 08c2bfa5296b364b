import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { generateToken, tokenHash } from "../../reports/access/token.ts";
import type { CommandContext } from "../context.ts";

const RANDOM_BYTES = 32;

/** The file with an administrator's token, and the one with its hash, for `server.access.tokens`. */
export const ADMIN_TOKEN = "admin-token";
export const ADMIN_TOKEN_HASH = `${ADMIN_TOKEN}.sha256`;

/** The secrets of a stack, each a file: who has it says the name. */
export const SECRETS: Readonly<Record<string, () => string>> = {
  "clickhouse-password": randomText,
  "reader-password": randomText,
  "grafana-password": randomText,
  "metrics-token": randomText,
  [ADMIN_TOKEN]: generateToken,
};

/** `gpu-ledger generate secrets`: random passwords and tokens of a stack, made once. */
export function addGenerateSecrets(generate: Command, { stdout }: CommandContext): void {
  generate
    .command("secrets")
    .description("make random passwords and tokens for a stack, a file each; those that are there stay")
    .requiredOption("--out <folder>", "where to write")
    .action(({ out }: { out: string }) => {
      for (const path of makeSecrets(out)) stdout.write(`${path}\n`);
    });
}

/**
 * Makes the secrets that a folder lacks, 256 random bits each and no line feed, and the hash of its administrator's token. Gives the
 * paths of those that were made. Whoever may read the folder may read them: containers have users of their own.
 */
export function makeSecrets(folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const missing = Object.entries(SECRETS).filter(([name]) => !existsSync(join(folder, name)));
  for (const [name, make] of missing) writeWhole(join(folder, name), make());
  // By the token that is there: it may have been put there by hand.
  writeWhole(join(folder, ADMIN_TOKEN_HASH), tokenHash(readFileSync(join(folder, ADMIN_TOKEN), "utf8").trimEnd()));
  return missing.map(([name]) => join(folder, name));
}

function randomText(): string {
  return randomBytes(RANDOM_BYTES).toString("base64url");
}

/** A file that is there is whole, whenever this ends. */
function writeWhole(path: string, text: string): void {
  const unfinished = `${path}.unfinished`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
