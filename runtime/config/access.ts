import { z } from "zod";
import { readPattern } from "../../domain/owner/pattern.ts";
import { ROLES, type Role } from "../../domain/role.ts";
import { instant } from "./instant.ts";
import { list, oneOf, secret, text, type ConfigSources } from "./words.ts";

const HASH = "the SHA-256 of a token, 64 hexadecimal digits, as `gpu-ledger token create --for-config` prints it";

const token = (sources: ConfigSources) =>
  z
    .strictObject({
      name: text("a name").describe("The viewer's name in logs and on pages."),
      role: oneOf(...ROLES).describe(
        "A viewer sees its own teams. finance sees all teams. An administrator can also make changes.",
      ),
      teams: list(text("a team")).default([]).describe("The teams of a viewer, at least one. Other roles have none."),
      sha256: secret(sources, HASH)
        .refine((hash) => /^[0-9a-f]{64}$/.test(hash), { error: HASH })
        .describe(HASH),
      expires: instant.optional().describe("The time from which the token is refused. Default: never."),
    })
    .superRefine(checkTeams);

const group = z
  .strictObject({
    group: text("a group's name, a glob or a regular expression between slashes").describe(
      "The groups that the rule is for, as the issuer or the proxy names them.",
    ),
    role: oneOf(...ROLES)
      .default("viewer")
      .describe("The role that the groups have."),
    teams: list(text("a team"))
      .default([])
      .describe("The teams that viewers see, at least one. Other roles have none."),
    from: instant.optional().describe("The start of the rule."),
    until: instant.optional().describe("The end of the rule (not included)."),
  })
  .superRefine(checkTeams)
  .superRefine(({ group: pattern }, context) => {
    const read = readPattern(pattern);
    if ("allowed" in read) context.addIssue({ code: "custom", path: ["group"], message: read.allowed });
  });

function checkTeams(
  { role, teams }: { readonly role: Role; readonly teams: readonly string[] },
  context: z.RefinementCtx,
): void {
  if ((role === "viewer") === teams.length > 0) return;
  const message =
    role === "viewer" ? "at least one team, because role is viewer" : `no team, because role ${role} sees all teams`;
  context.addIssue({ code: "custom", path: ["teams"], message });
}

/** Returns the schema of the access settings: tokens in the configuration, by their hashes. */
export const access = (sources: ConfigSources) =>
  z
    .strictObject({
      tokens: list(token(sources))
        .default([])
        .describe("Tokens in addition to the tokens of the store. If there is any token, every request needs one."),
      groups: list(group)
        .default([])
        .describe("The roles and teams of people who sign in, by their groups. All rules that fit count together."),
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

/** A rule for groups of people. Times are in milliseconds since the epoch. */
export type GroupRule = z.output<typeof group>;

/** A token of the configuration. `expires` is in milliseconds since the epoch. */
export type ConfiguredToken = z.output<ReturnType<typeof token>>;
