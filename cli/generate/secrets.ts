import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateToken, tokenHash } from "../../reports/access/token.ts";

const RANDOM_BYTES = 32;

/** The names of the file with an administrator's token and of the file with its hash, for `server.access.tokens`. */
export const ADMIN_TOKEN = "admin-token";
export const ADMIN_TOKEN_HASH = `${ADMIN_TOKEN}.sha256`;

/** The secrets of a stack, each in a file. The name contains the owner. */
export const SECRETS: Readonly<Record<string, () => string>> = {
  "clickhouse-password": randomText,
  "reader-password": randomText,
  "grafana-password": randomText,
  "metrics-token": randomText,
  [ADMIN_TOKEN]: generateToken,
};

/**
 * Makes the missing secrets of a folder, 256 random bits each without a line feed, and the hash of its administrator's token. Returns the
 * paths of the new files. Everyone who may read the folder may read them, because containers have users of their own.
 */
export function makeSecrets(folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const missing = Object.entries(SECRETS).filter(([name]) => !existsSync(join(folder, name)));
  for (const [name, make] of missing) writeWhole(join(folder, name), make());
  // The hash is of the existing token, which may come from an operator.
  writeWhole(join(folder, ADMIN_TOKEN_HASH), tokenHash(readFileSync(join(folder, ADMIN_TOKEN), "utf8").trimEnd()));
  return missing.map(([name]) => join(folder, name));
}

function randomText(): string {
  return randomBytes(RANDOM_BYTES).toString("base64url");
}

/** Writes a file so that it is complete if it exists, even after an abort. */
function writeWhole(path: string, text: string): void {
  const unfinished = `${path}.unfinished`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
