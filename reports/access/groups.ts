import type { GroupRule } from "../../runtime/config/access.ts";
import { readPattern, type Pattern } from "../../domain/owner/pattern.ts";
import { ROLES, type Viewer } from "./viewer.ts";

/** A person who has signed in. */
export interface Person {
  /** The name for logs and pages. */
  readonly name: string;
  /** The unique and constant id, for limits and the audit trail. */
  readonly subject: string;
  readonly groups: readonly string[];
}

/** The access of people by their groups. */
export interface GroupAccess {
  /** Returns true if any rule, of any time, is for the group. */
  isKnown(group: string): boolean;
  /**
   * Returns what a person may see at a time, in milliseconds since the epoch: the highest role of all rules that fit, and for a viewer the
   * teams of all of them. Returns undefined if no rule fits.
   */
  viewerOf(person: Person, nowMillis: number): Viewer | undefined;
}

/** Compiles the rules of a configuration. */
export function createGroupAccess(rules: readonly GroupRule[]): GroupAccess {
  const compiled = rules.map((rule) => ({ ...rule, pattern: readPattern(rule.group) as Pattern }));
  return {
    isKnown: (group) => compiled.some(({ pattern }) => pattern.fits(group)),
    viewerOf({ name, subject, groups }, now) {
      const fitting = compiled.filter(
        ({ from = -Infinity, until = Infinity, pattern }) =>
          from <= now && now < until && groups.some((group) => pattern.fits(group)),
      );
      const role = ROLES.findLast((each) => fitting.some((rule) => rule.role === each));
      if (role === undefined) return undefined;
      const teams = [...new Set(fitting.flatMap((rule) => rule.teams))];
      return { name, subject, role, teams: role === "viewer" ? teams : "all" };
    },
  };
}
