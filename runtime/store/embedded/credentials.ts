/** The two users of the embedded store, and their passwords, which it makes itself at its first start. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { equalSecrets } from "../../equal-secrets.ts";
import { FaceError } from "./face-error.ts";

/** `internal` may do everything that the engine's grants allow; `reader` may read within limits. */
export type StoreRole = "internal" | "reader";

/** A user of the store. */
export interface StoreUser {
  readonly username: string;
  readonly password: string;
}

/** Both users. */
export type StoreCredentials = Readonly<Record<StoreRole, StoreUser>>;

/** What a request claims to be. */
export interface ClaimedUser {
  readonly username: string;
  readonly password: string;
}

/** Reads the passwords from `file`, or makes two of 192 random bits each and keeps them there with mode 0600. */
export function loadOrCreateCredentials(file: string): StoreCredentials {
  const kept = readKept(file);
  if (kept !== undefined) return kept;
  const made: StoreCredentials = {
    internal: { username: "gpu_ledger", password: randomBytes(24).toString("base64url") },
    reader: { username: "reader", password: randomBytes(24).toString("base64url") },
  };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
  return made;
}

function readKept(file: string): StoreCredentials | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const kept = JSON.parse(text) as Partial<StoreCredentials>;
  for (const user of [kept.internal, kept.reader]) {
    if (typeof user?.username !== "string" || typeof user.password !== "string" || user.password.length < 16) {
      throw new Error(`${file} does not hold two users with passwords; remove it and new ones are made.`);
    }
  }
  return kept as StoreCredentials;
}

/** The role of a claimed user. Fails with 516 AUTHENTICATION_FAILED; the time taken does not tell how close it was. */
export function authenticate(credentials: StoreCredentials, claimed: ClaimedUser): StoreRole {
  for (const role of ["internal", "reader"] as const) {
    const user = credentials[role];
    const named = equalSecrets(claimed.username, user.username);
    if (equalSecrets(claimed.password, user.password) && named) return role;
  }
  throw new FaceError(
    516,
    `${claimed.username}: Authentication failed: password is incorrect, or there is no user with such name`,
  );
}
