import { createHash, randomBytes } from "node:crypto";

/** A token's text begins so: searches for lost secrets know it by that. */
const PREFIX = "gpul_";
const RANDOM_BYTES = 32;
const FORM = /^gpul_[A-Za-z0-9_-]{43}$/;
const ID_DIGITS = 10;

/** A new token: 256 random bits as base64url behind `gpul_`. */
export function generateToken(): string {
  return `${PREFIX}${randomBytes(RANDOM_BYTES).toString("base64url")}`;
}

/** Whether a text has the form of a token. */
export function isTokenText(text: string): boolean {
  return FORM.test(text);
}

/**
 * What is kept of a token: its SHA-256, as 64 hexadecimal digits. A slow hash, with salt, makes guesses of what people think up
 * costly; 256 random bits are beyond any guessing, whatever a guess costs (NIST SP 800-63B, 5.1.1.2 and 5.1.2.2).
 */
export function tokenHash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The name of a token for logs and commands, which is no secret: the first digits of its hash. */
export function tokenId(hash: string): string {
  return hash.slice(0, ID_DIGITS);
}
