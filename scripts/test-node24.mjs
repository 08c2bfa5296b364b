// Runs the unit tests on Node 24 as well. Its binary comes from the npm registry, into a cache of the project's own.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const folder = "node_modules/.cache/gpu-ledger/node24";
const name = `node-${process.platform}-${process.arch}`;
const binary = `${folder}/node_modules/${name}/bin/node`;

if (!existsSync(binary)) {
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, `${name}@24`];
  const install = spawnSync("npm", args, { stdio: "inherit" });
  if (install.status !== 0 || !existsSync(binary)) {
    console.error(`Node 24 for ${process.platform}-${process.arch} is missing: npm has no package ${name}.`);
    process.exit(process.env.CI === "true" ? 1 : 0);
  }
}
const version = spawnSync(binary, ["--version"], { encoding: "utf8" });
console.log(`Unit tests on Node ${version.stdout.trim()}`);
const run = spawnSync(binary, ["node_modules/vitest/vitest.mjs", "run", "--project", "unit"], { stdio: "inherit" });
process.exit(run.status ?? 1);
