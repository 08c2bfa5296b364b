import { userInfo } from "node:os";

/**
 * Returns the user who runs a command, for the audit trail: the user's name in the system, or the user's number if the system has no name
 * for it, as in a container with a user that its image does not contain.
 */
export function whoRuns(nameOf: () => string = () => userInfo().username): string {
  try {
    return nameOf();
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
