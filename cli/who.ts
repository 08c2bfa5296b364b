import { userInfo } from "node:os";

/**
 * Who runs a command, for the audit trail: the name that the system has for the user, or the user's number where it has none, as in a
 * container that runs as somebody whom its image does not know.
 */
export function whoRuns(nameOf: () => string = () => userInfo().username): string {
  try {
    return nameOf();
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
