import type { OwnerRules } from "./compile.ts";
import {
  isReserved,
  UNOWNED,
  type Attribution,
  type Dimension,
  type Owner,
  type OwnerSubject,
  type RefusedOwner,
} from "./owner.ts";

const NOBODY: Owner = { value: "", place: "", source: "" };

/**
 * Whom a workload belongs to at a time, milliseconds since the epoch: for each dimension the first source that answers, with
 * its place. A team that the register does not know, or whose name is reserved, is refused, and the next source is asked
 * (ledger, "Owners").
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

/** The team alone, for views that show nothing else. */
export function teamOf(
  { sources, register }: OwnerRules,
  subject: OwnerSubject,
  atMillis: number,
  refused?: RefusedOwner[],
): Owner {
  for (const source of sources.team) {
    for (const answer of source(subject, atMillis)) {
      if (!isReserved(answer.value) && (register === undefined || register.has(answer.value))) return answer;
      refused?.push({ dimension: "team", ...answer });
    }
  }
  return { ...NOBODY, value: UNOWNED };
}
