/** What somebody who asks for reports is there for, the most modest first. */
export const ROLES = ["viewer", "finance", "administrator"] as const;

/** A `viewer` sees the teams that are named for it; `finance` sees all of them; an `administrator` may change things too. */
export type Role = (typeof ROLES)[number];
