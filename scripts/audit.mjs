// Fails if npm's registry has an advisory of at least the severity "high" for a package that the program needs. Prints one line, and does not
// fail, if the registry has no endpoint for advisories or cannot be reached. Takes at most 30 s.
import { spawnSync } from "node:child_process";

const ARGS =
  "audit --omit=dev --audit-level=high --json --package-lock-only --fetch-retries=0 --fetch-timeout=5000".split(" ");
/** Statuses of a registry that does not have the endpoint, and of one that cannot answer now. */
const NO_ENDPOINT = [404, 405, 501];
const NOT_NOW = [408, 429, 500, 502, 503, 504];

const { status, stdout, stderr, error } = spawnSync("npm", ARGS, { encoding: "utf8", timeout: 30_000 });
const silence = error?.code === "ETIMEDOUT" ? "no answer within 30 s" : silenceOf(parsed(stdout));
if (silence !== undefined) console.log(`npm audit: the registry does not answer (${silence})`);
else if (status !== 0) {
  console.error(stdout, stderr);
  console.error("npm audit: failed");
  process.exitCode = 1;
} else console.log("npm audit: no advisory of high or critical severity");

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Returns why there are no advisories, for a registry without them; undefined for a report, and for any other answer. */
function silenceOf({ vulnerabilities, statusCode, message = "" }) {
  if (vulnerabilities !== undefined) return undefined;
  if (NO_ENDPOINT.includes(statusCode)) return `it has no such endpoint: ${statusCode}`;
  if (NOT_NOW.includes(statusCode)) return `it cannot answer now: ${statusCode}`;
  // npm has no code for a failed connection, only its message.
  const [, reason = "network timeout"] = /failed, reason: (.*)$|^network timeout/.exec(message) ?? [undefined, ""];
  return statusCode === undefined && reason !== "" ? `it cannot be reached: ${reason}` : undefined;
}
