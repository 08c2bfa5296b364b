import unhomoglyph from "unhomoglyph";
import { groupedBy } from "../../domain/grouped.ts";
import { givenTeams } from "../../domain/owner/compile.ts";
import { PLATFORM, UNOWNED } from "../../domain/owner/owner.ts";
import { readName } from "../../domain/owner/reserved.ts";
import type { OwnerConfig } from "../../domain/owner/rule.ts";
import type { Finding } from "./finding.ts";

/** Returns a finding for each set of teams that people read as one name: one of a bill's own, one of the configuration, or each other's. */
export function teamsAlike(config: OwnerConfig, charged: readonly string[], what: string): readonly Finding[] {
  const names = new Set([PLATFORM, UNOWNED, ...givenTeams(config), ...charged]);
  const alike = [...groupedBy(names, looksOf).values()].filter(({ length }) => length > 1);
  return alike.map((group) => {
    const [first, ...others] = group.map(spelled);
    const answer = `${others.join(" and ")} can be read as ${first!}, and ${others.length === 1 ? "has" : "have"} charges apart from it: change the label or the rule`;
    return { ok: true, warns: true, what, answer };
  });
}

/** Returns what a name looks like, whatever the scripts of its letters are: equal texts look alike (the skeletons of Unicode's TR 39). */
function looksOf(name: string): string {
  // The second time is for capitals that the first one returns, such as O for 0.
  return unhomoglyph(unhomoglyph(readName(name)).toLowerCase());
}

/** Returns a name, and after it the codes of its letters that are not ASCII. */
function spelled(name: string): string {
  const codes = name.replaceAll(/[^\x20-\x7E]/gu, (sign) => ` U+${sign.codePointAt(0)!.toString(16).toUpperCase()} `);
  return codes === name ? name : `${name} (${codes.trim()})`;
}
