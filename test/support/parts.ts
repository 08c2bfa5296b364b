import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Programs that integration tests need beside Node, with Debian's package for each. */
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
  // Debian's own is too old for the programs that are built with it here.
  go: { hint: "Go 1.24 or later (https://go.dev/dl)" },
  python3: { debianPackage: "python3-venv", hint: "Python 3 with venv (https://www.python.org)" },
} as const satisfies Record<string, Part>;

interface Part {
  /** Where Debian has none that would do, it has to be installed by hand. */
  readonly debianPackage?: string;
  /** What is looked for on PATH; the part's own name where it is left out. */
  readonly command?: string;
  readonly hint: string;
}

/** The name of a program that tests may need. */
export type PartName = keyof typeof PARTS;

/**
 * Whether a program is there, after trying to get it: it is looked for on PATH, then installed where that is possible
 * (Debian, as root). Where it is missing, one line says so and how to get it, and the caller skips its suite; with
 * `CI=true` it is a failure instead, so that nothing is skipped where it counts.
 */
export async function requirePart(name: PartName): Promise<boolean> {
  const { debianPackage, hint, command = name }: Part = PARTS[name];
  if (isOnPath(command)) return true;
  if (debianPackage !== undefined && process.getuid?.() === 0 && existsSync("/etc/debian_version")) {
    await install(debianPackage).catch((error: unknown) => say(`apt-get could not install it: ${String(error)}`));
    if (isOnPath(command)) return true;
  }
  const instead = debianPackage === undefined ? "" : `, or Debian's ${debianPackage}`;
  const message = `${command} is missing. Install ${hint}${instead}.`;
  if (process.env["CI"] === "true") throw new Error(message);
  say(`${message} The tests that need it are skipped.`);
  return false;
}

/** Whether a program is on PATH. */
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

async function install(debianPackage: string): Promise<void> {
  say(`Installing Debian's ${debianPackage} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update", "-q"], { env });
  await run("apt-get", ["install", "-y", "-q", "--no-install-recommends", debianPackage], { env });
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
