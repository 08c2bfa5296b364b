// Fails if package-lock.json has a package without a SHA-512, with an address, or with an install script that is not in lock-rules.json,
// and if lock-rules.json has a package that no longer needs its rule. With `--complete`, as for a release, there are no exceptions.
import { readFileSync } from "node:fs";

const isComplete = process.argv.includes("--complete");
const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const rules = JSON.parse(readFileSync("scripts/lock-rules.json", "utf8"));
const entries = Object.entries(packages).filter(([path]) => path !== "");
/** The name of a package: an alias has it in `name`. */
const nameOf = ([path, { name }]) => name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
const hasIntegrity = ([, { integrity }]) => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? "");

const lacking = entries.filter((entry) => !hasIntegrity(entry)).map(nameOf);
const withScripts = entries.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(nameOf);
const npmrc = readFileSync(".npmrc", "utf8").split("\n");

const problems = [
  ...lacking
    .filter((name) => isComplete || !Object.hasOwn(rules.withoutIntegrity, name))
    .map((name) => `${name} has no SHA-512 integrity: npm run lock, with a registry that has the package`),
  ...entries
    .filter(([, { resolved, link }]) => resolved !== undefined || link === true)
    .map((entry) => `${nameOf(entry)} has an address: npm run lock`),
  ...withScripts
    .filter((name) => !Object.hasOwn(rules.installScripts, name))
    .map(
      (name) =>
        `${name} has an install script: read it, and add the package to scripts/lock-rules.json with the reason`,
    ),
  ...Object.keys(rules.withoutIntegrity)
    .filter((name) => !lacking.includes(name))
    .map((name) => `${name} has its integrity, or is gone: remove it from withoutIntegrity of scripts/lock-rules.json`),
  ...Object.keys(rules.installScripts)
    .filter((name) => !withScripts.includes(name))
    .map(
      (name) => `${name} has no install script, or is gone: remove it from installScripts of scripts/lock-rules.json`,
    ),
  ...(npmrc.includes("ignore-scripts=true") ? [] : [".npmrc must have ignore-scripts=true"]),
];
for (const problem of problems) console.error(`package-lock.json: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
