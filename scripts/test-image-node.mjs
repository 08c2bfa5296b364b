// Runs the unit tests on the Node of the container image too. Its binary comes from npm, into a cache of the project's own.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const [, version] = /^ARG NODE_VERSION=(\S+)$/m.exec(readFileSync("Dockerfile", "utf8"));
const folder = `node_modules/.cache/gpu-ledger/node-${version}`;
const name = `node-${process.platform}-${process.arch}`;
const binary = `${folder}/node_modules/${name}/bin/node`;

if (!existsSync(binary)) {
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${version}`];
  const install = spawnSync("npm", args, { stdio: "inherit" });
  if (install.status !== 0 || !existsSync(binary)) {
    console.error(
      `Node ${version} for ${process.platform}-${process.arch} is missing: npm has no package ${name} of it.`,
    );
    process.exit(process.env.CI === "true" ? 1 : 0);
  }
}
const ran = spawnSync(binary, ["--version"], { encoding: "utf8" });
console.log(`Unit tests on Node ${ran.stdout.trim()}`);
const run = spawnSync(binary, ["node_modules/vitest/vitest.mjs", "run", "--project", "unit"], { stdio: "inherit" });
process.exit(run.status ?? 1);
