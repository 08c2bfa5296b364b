/** The roles of viewers of reports, least privileged first. */
export const ROLES = ["viewer", "finance", "administrator"] as const;

/**
 * The role of a viewer. A `viewer` sees the teams that are named for it; `finance` sees all teams; an `administrator` may also make
 * changes.
 */
export type Role = (typeof ROLES)[number];
