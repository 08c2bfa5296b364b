import { ROLES, type Role } from "../../domain/role.ts";

export { ROLES, type Role };

/** Somebody who asks for reports, and whose they may see. */
export interface Viewer {
  /** Of the token, for logs and pages. */
  readonly name: string;
  readonly role: Role;
  /** One at least for the role `viewer`; all for the others. */
  readonly teams: readonly string[] | "all";
}

/** Who asks a server without tokens, which only this machine reaches. */
export const OPEN: Viewer = { name: "anyone on this machine", role: "administrator", teams: "all" };

/** Whether all that there is may be seen: what is of no team, and what is of all of them together, included. */
export function seesAll({ teams }: Viewer): boolean {
  return teams === "all";
}

/** Whether what is of a team may be seen. Teams have the same name to the letter, or are others. */
export function maySeeTeam({ teams }: Viewer, team: string): boolean {
  return teams === "all" || teams.includes(team);
}

/** Whether things may be changed. */
export function mayAdminister({ role }: Viewer): boolean {
  return role === "administrator";
}
