import { createHash, randomBytes } from "node:crypto";
import { EncryptJWT, jwtDecrypt } from "jose";
import type { z } from "zod";

/** Encrypted and authenticated texts for cookies. Each has a purpose and an end. */
export interface Sealed {
  /** Returns a content as a text of letters, digits, `-`, `_` and `.`. It can be opened for some seconds. */
  seal(purpose: string, content: object, seconds: number): Promise<string>;
  /** Returns the content of a text; undefined if the text is not from here, has another purpose or form, or has ended. */
  open<Content>(purpose: string, text: string, form: z.ZodType<Content>): Promise<Content | undefined>;
}

/**
 * Creates seals with a key, by default a new one. The texts are JWTs in compact JWE (RFC 7516): AES-256-GCM with the SHA-256 of the key.
 * `issuer` separates the texts of one configuration from those of another with the same key.
 */
export function createSealed(issuer: string, key: string = randomBytes(32).toString("hex")): Sealed {
  const secret = createHash("sha256").update(key).digest();
  return {
    seal: (purpose, content, seconds) =>
      new EncryptJWT({ content })
        .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
        .setIssuer(issuer)
        .setAudience(purpose)
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
        .encrypt(secret),
    async open(purpose, text, form) {
      try {
        const { payload } = await jwtDecrypt(text, secret, {
          issuer,
          audience: purpose,
          requiredClaims: ["exp"],
          keyManagementAlgorithms: ["dir"],
          contentEncryptionAlgorithms: ["A256GCM"],
        });
        return form.safeParse(payload["content"]).data;
      } catch {
        return undefined;
      }
    },
  };
}
