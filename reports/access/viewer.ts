import { ROLES, type Role } from "../../domain/role.ts";

export { ROLES, type Role };

/** A reader of reports, with the teams that the reader may see. */
export interface Viewer {
  /** The name of the token or the person, for logs and pages. */
  readonly name: string;
  /** The unique and constant id of a person. Absent for a token. */
  readonly subject?: string;
  readonly role: Role;
  /** At least one for the role `viewer`; all for the others. */
  readonly teams: readonly string[] | "all";
}

/** The viewer of a server without tokens, which only this machine reaches. */
export const OPEN: Viewer = { name: "anyone on this machine", role: "administrator", teams: "all" };

/** Returns true if the viewer may see everything, including what belongs to no team or to all teams. */
export function seesAll({ teams }: Viewer): boolean {
  return teams === "all";
}

/** Returns true if the viewer may see a team. Names of teams are compared exactly. */
export function maySeeTeam({ teams }: Viewer, team: string): boolean {
  return teams === "all" || teams.includes(team);
}

/** Returns true if the viewer may make changes. */
export function mayAdminister({ role }: Viewer): boolean {
  return role === "administrator";
}
