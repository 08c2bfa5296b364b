import { createHash, randomBytes } from "node:crypto";

/** The beginning of each token's text. Searches for leaked secrets recognize it. */
const PREFIX = "gpul_";
const RANDOM_BYTES = 32;
const FORM = /^gpul_[A-Za-z0-9_-]{43}$/;
const ID_DIGITS = 10;

/** Returns a new token: 256 random bits as base64url after `gpul_`. */
export function generateToken(): string {
  return `${PREFIX}${randomBytes(RANDOM_BYTES).toString("base64url")}`;
}

/** Returns true if a text has the form of a token. */
export function isTokenText(text: string): boolean {
  return FORM.test(text);
}

/**
 * Returns the stored form of a token: its SHA-256, as 64 hexadecimal digits. A slow hash with salt makes guesses of chosen passwords
 * costly. 256 random bits cannot be guessed at any cost of a guess (NIST SP 800-63B, 5.1.1.2 and 5.1.2.2).
 */
export function tokenHash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the name of a token for logs and commands: the first digits of its hash. The name is not secret. */
export function tokenId(hash: string): string {
  return hash.slice(0, ID_DIGITS);
}
