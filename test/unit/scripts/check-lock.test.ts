import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../support/folder.ts";

const SCRIPT = resolve("scripts/check-lock.mjs");
const INTEGRITY = `sha512-${"A".repeat(86)}==`;
const NPMRC = "ignore-scripts=true\n";
const RULES = { installScripts: { built: "compiles" }, withoutIntegrity: { "@other/platform": "not there" } };
const GOOD = {
  "": { name: "one" },
  "node_modules/a": { version: "1.0.0", integrity: INTEGRITY },
  "node_modules/a/node_modules/built": { version: "1.0.0", integrity: INTEGRITY, hasInstallScript: true },
  "node_modules/@other/platform": { version: "1.0.0", optional: true },
};

/** The exit code of the check and its lines, in a folder with these files. */
function check(packages: object, { npmrc = NPMRC, rules = RULES as object, flags = [] as readonly string[] } = {}) {
  const folder = temporaryFolder("lock");
  mkdirSync(join(folder, "scripts"));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }));
  writeFileSync(join(folder, "scripts/lock-rules.json"), JSON.stringify(rules));
  writeFileSync(join(folder, ".npmrc"), npmrc);
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...flags], { cwd: folder, encoding: "utf8" });
  return { status, lines: stderr.split("\n").filter((line) => line !== "") };
}

it("the lock of the repository passes the check, which the gate runs", () => {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  expect(scripts["gate"]!.split(" && ")).toContain("npm run lock:check");
  expect(scripts["lock:check"]).toBe("node scripts/check-lock.mjs");
});

it("a lock with an integrity for each package, and rules for the rest, passes the check", () => {
  expect(check(GOOD)).toEqual({ status: 0, lines: [] });
});

it.each([
  ["no integrity", { version: "1.0.0" }, "a has no SHA-512 integrity"],
  ["a SHA-1", { version: "1.0.0", integrity: "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=" }, "a has no SHA-512 integrity"],
  ["half an integrity", { version: "1.0.0", integrity: "sha512-AAAA" }, "a has no SHA-512 integrity"],
  ["an address", { version: "1.0.0", integrity: INTEGRITY, resolved: "https://example.com/a.tgz" }, "a has an address"],
  ["a folder", { link: true, integrity: INTEGRITY }, "a has an address"],
  ["a script", { version: "1.0.0", integrity: INTEGRITY, hasInstallScript: true }, "a has an install script"],
  ["another name", { name: "b", version: "1.0.0" }, "b has no SHA-512 integrity"],
])("a package with %s fails the check", (_, entry, line) => {
  const { status, lines } = check({ ...GOOD, "node_modules/a": entry });
  expect({ status, lines }).toEqual({ status: 1, lines: [expect.stringContaining(line)] });
});

it("a rule that no package needs fails the check", () => {
  const rules = { installScripts: { built: "", a: "" }, withoutIntegrity: { "@other/platform": "", a: "" } };
  expect(check(GOOD, { rules }).lines).toEqual([
    expect.stringContaining("a has its integrity, or is gone"),
    expect.stringContaining("a has no install script, or is gone"),
  ]);
});

it("a release has no exceptions, and scripts do not run", () => {
  expect(check(GOOD, { flags: ["--complete"] })).toMatchObject({
    status: 1,
    lines: [expect.stringContaining("@other/platform")],
  });
  expect(check(GOOD, { npmrc: "#ignore-scripts=true\n" })).toMatchObject({
    status: 1,
    lines: [expect.stringContaining("ignore-scripts")],
  });
});
