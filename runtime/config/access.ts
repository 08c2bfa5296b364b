import { z } from "zod";
import { ROLES } from "../../domain/role.ts";
import { instant } from "./instant.ts";
import { list, oneOf, secret, text, type ConfigSources } from "./words.ts";

const HASH = "the SHA-256 of a token, 64 hexadecimal digits, as `gpu-ledger token create --for-config` prints it";

const token = (sources: ConfigSources) =>
  z
    .strictObject({
      name: text("a name").describe("Whose it is, in logs and on pages."),
      role: oneOf(...ROLES).describe(
        "A viewer sees its teams; finance sees all; an administrator may change things too.",
      ),
      teams: list(text("a team")).default([]).describe("The teams of a viewer, one at least; none for other roles."),
      sha256: secret(sources, HASH)
        .refine((hash) => /^[0-9a-f]{64}$/.test(hash), { error: HASH })
        .describe(HASH),
      expires: instant.optional().describe("From then on it is refused; without it never."),
    })
    .superRefine(({ role, teams }, context) => {
      if ((role === "viewer") === teams.length > 0) return;
      const message = role === "viewer" ? "one team at least, as role is viewer" : `no team, as role ${role} sees all`;
      context.addIssue({ code: "custom", path: ["teams"], message });
    });

/** Returns the schema of the access settings: tokens in the configuration, by their hashes. */
export const access = (sources: ConfigSources) =>
  z
    .strictObject({
      tokens: list(token(sources))
        .default([])
        .describe("Tokens beside those of the store. With any token at all nobody is served without one."),
    })
    .superRefine(({ tokens }, context) => {
      for (const key of ["name", "sha256"] as const) {
        tokens.forEach((each, index) => {
          if (tokens.findIndex((other) => other[key] === each[key]) === index) return;
          const message = `a ${key} that no other token has`;
          context.addIssue({ code: "custom", path: ["tokens", index, key], message });
        });
      }
    });

/** A token of the configuration. `expires` is in milliseconds since the epoch. */
export type ConfiguredToken = z.output<ReturnType<typeof token>>;
