import type { OwnerRules } from "./compile.ts";
import {
  UNOWNED,
  type Attribution,
  type Dimension,
  type Owner,
  type OwnerSubject,
  type RefusedOwner,
} from "./owner.ts";
import { isReserved, readsReserved } from "./reserved.ts";

const NOBODY: Owner = { value: "", rule: "", source: "" };

/**
 * Returns the owners of a workload at a time, milliseconds since the epoch: for each dimension the first source that has a value, with its
 * place. A team that is not in the register, or whose name is reserved, is refused, and the next source is used (docs/owners.md).
 */
export function ownersOf(rules: OwnerRules, subject: OwnerSubject, atMillis: number): Attribution {
  const refused: RefusedOwner[] = [];
  const team = teamOf(rules, subject, atMillis, refused);
  const first = (dimension: Dimension): Owner => {
    for (const source of rules.sources[dimension]) {
      const [answer] = source(subject, atMillis);
      if (answer !== undefined) return answer;
    }
    return NOBODY;
  };
  const owners = {
    team,
    costCenter: first("costCenter"),
    project: first("project"),
    environment: first("environment"),
  };
  return { owners, refused };
}

/** Returns only the team, for views that show nothing else. */
export function teamOf(rules: OwnerRules, subject: OwnerSubject, atMillis: number, refused?: RefusedOwner[]): Owner {
  for (const source of rules.sources.team) {
    for (const answer of source(subject, atMillis)) {
      if (isTeam(rules, answer.value)) return answer;
      refused?.push({ dimension: "team", ...answer });
    }
  }
  return { ...NOBODY, value: UNOWNED };
}

function isTeam({ register, given }: OwnerRules, name: string): boolean {
  if (register !== undefined && !register.has(name)) return false;
  return readsReserved(name) ? given.has(name) && !isReserved(name) : true;
}
