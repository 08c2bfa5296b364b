// Runs the unit tests on other releases of Node than the one at hand: 24, and that of the container image. Their binaries come
// from npm, into a cache of the project's own.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const [, ofImage] = /^ARG NODE_VERSION=(\S+)$/m.exec(readFileSync("Dockerfile", "utf8"));
const name = `node-${process.platform}-${process.arch}`;

for (const version of ["24.21.0", ofImage]) {
  const node = binaryOf(version);
  if (node === undefined) {
    console.error(
      `Node ${version} for ${process.platform}-${process.arch} is missing: npm has no package ${name} of it.`,
    );
    if (process.env.CI === "true") process.exit(1);
    continue;
  }
  const ran = spawnSync(node, ["--version"], { encoding: "utf8" });
  console.log(`Unit tests on Node ${ran.stdout.trim()}`);
  const run = spawnSync(node, ["node_modules/vitest/vitest.mjs", "run", "--project", "unit"], { stdio: "inherit" });
  if (run.status !== 0) process.exit(run.status ?? 1);
}

/** The path of a release's binary, which is installed where it is missing; `undefined` where npm has none. */
function binaryOf(version) {
  const folder = `node_modules/.cache/gpu-ledger/node-${version}`;
  const binary = `${folder}/node_modules/${name}/bin/node`;
  if (existsSync(binary)) return binary;
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${version}`];
  const install = spawnSync("npm", args, { stdio: "inherit" });
  return install.status === 0 && existsSync(binary) ? binary : undefined;
}
