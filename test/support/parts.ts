import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Programs other than Node that integration tests need, with Debian's package for each. */
const PARTS = {
  java: { debianPackage: "default-jre-headless", hint: "a Java runtime, version 17 or later (https://adoptium.net)" },
  mvn: { debianPackage: "maven", hint: "Apache Maven (https://maven.apache.org)" },
  prometheus: { debianPackage: "prometheus", hint: "Prometheus (https://prometheus.io/download)" },
  promtool: { debianPackage: "prometheus", hint: "Prometheus, which brings promtool (https://prometheus.io/download)" },
  alertmanager: {
    debianPackage: "prometheus-alertmanager",
    command: "prometheus-alertmanager",
    hint: "Alertmanager (https://prometheus.io/download)",
  },
  chromium: {
    debianPackage: "chromium",
    hint: "Chromium (https://www.chromium.org/getting-involved/download-chromium)",
  },
  openssl: { debianPackage: "openssl", hint: "OpenSSL (https://openssl-library.org)" },
  amtool: { debianPackage: "prometheus-alertmanager", hint: "Alertmanager, which brings amtool" },
  "docker-compose": { debianPackage: "docker-compose", hint: "Docker Compose (https://docs.docker.com/compose)" },
  // Debian's package is too old for the programs that are built with Go here.
  go: { hint: "Go 1.24 or later (https://go.dev/dl)" },
  python3: { debianPackage: "python3-venv", hint: "Python 3 with venv (https://www.python.org)" },
} as const satisfies Record<string, Part>;

interface Part {
  /** Absent where Debian has no suitable package. Then the program has to be installed by hand. */
  readonly debianPackage?: string;
  /** The command on PATH; the part's own name by default. */
  readonly command?: string;
  readonly hint: string;
}

/** The name of a program that tests may need. */
export type PartName = keyof typeof PARTS;

/**
 * Installs the Debian packages of all missing parts with one call of apt-get, where that is possible (Debian, as root). There is one call, before any
 * test: two calls at once would fail on dpkg's lock.
 */
export async function installParts(): Promise<void> {
  const parts: readonly Part[] = Object.entries(PARTS).map(([name, part]) => ({ command: name, ...part }));
  const missing = parts.flatMap(({ command, debianPackage }) =>
    debianPackage !== undefined && !isOnPath(command!) ? [debianPackage] : [],
  );
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return;
  say(`Installing Debian's ${missing.join(", ")} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  try {
    await run("apt-get", ["update", "-q"], { env });
    await run("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...new Set(missing)], { env });
  } catch (error) {
    say(`apt-get failed: ${String(error)}`);
  }
}

/**
 * True if a program is on PATH. Where the program is missing, one line names it and how to get it, and the caller skips its
 * suite. With `CI=true` a missing program is a failure.
 */
export function requirePart(name: PartName): boolean {
  const { debianPackage, hint, command = name }: Part = PARTS[name];
  if (isOnPath(command)) return true;
  const instead = debianPackage === undefined ? "" : `, or Debian's ${debianPackage}`;
  const message = `${command} is missing. Install ${hint}${instead}.`;
  if (process.env["CI"] === "true") throw new Error(message);
  say(`${message} The tests that need it are skipped.`);
  return false;
}

/** True if a program is on PATH. */
export function isOnPath(command: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => isExecutable(join(folder, command)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
