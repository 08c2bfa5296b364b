/** The user of the embedded store. The store creates its password at its first start. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { equalSecrets } from "../../equal-secrets.ts";
import { makePrivateFolder } from "../../private-folder.ts";
import { AdapterError } from "./adapter-error.ts";

/** A user's name and password: the store's own, or those of a request. */
export interface StoreUser {
  readonly username: string;
  readonly password: string;
}

/** The credentials file. Releases up to 0.3.0 stored a second user in it, `reader`. */
interface KeptCredentials {
  readonly internal: StoreUser;
}

/**
 * Reads the user from `file`. If there is no file, creates a user with a password of 192 random bits and stores it with mode 0600. Throws
 * an `Error` if the file has no user with a password.
 */
export function loadOrCreateUser(file: string): StoreUser {
  const kept = readUser(file);
  if (kept !== undefined) return kept;
  const internal = { username: "gpu_ledger", password: randomBytes(24).toString("base64url") };
  makePrivateFolder(dirname(file));
  writeFileSync(file, `${JSON.stringify({ internal } satisfies KeptCredentials, null, 2)}\n`, { mode: 0o600 });
  return internal;
}

/** Reads the user from `file`; undefined if there is no file. Fails like {@link loadOrCreateUser}. */
export function readUser(file: string): StoreUser | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const { internal: user } = JSON.parse(text) as Partial<KeptCredentials>;
  if (typeof user?.username !== "string" || typeof user.password !== "string" || user.password.length < 16)
    throw new Error(`${file} has no user with a password; delete the file, and the store creates a new one.`);
  return user;
}

/** Throws 516 AUTHENTICATION_FAILED if a request has another user or password. Compares in constant time. */
export function authenticate(user: StoreUser, claimed: StoreUser): void {
  const isNamed = equalSecrets(claimed.username, user.username);
  if (equalSecrets(claimed.password, user.password) && isNamed) return;
  throw new AdapterError(
    516,
    `${claimed.username}: Authentication failed: password is incorrect, or there is no user with such name`,
  );
}
