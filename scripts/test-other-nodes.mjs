// Tests the program on other releases of Node than the current one: 24, and the one of the container image. On each: the types, the
// build, the inspection of a page, and a scenario that uses the store and the bus. A release that is too old gets one line. The binaries come
// from npm into a separate cache of the project.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const [, ofImage] = /^ARG NODE_VERSION=(\S+)$/m.exec(readFileSync("Dockerfile", "utf8"));
const name = `node-${process.platform}-${process.arch}`;
const STEPS = [
  ["node_modules/typescript/bin/tsc", "--noEmit"],
  ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"],
  ["scripts/finish-build.mjs"],
  ["dist/cli/main.js", "inspect", "test/fixtures/pages/dcgm-mig.prom"],
  ["dist/cli/main.js", "scenario", "test/scenarios/by-usage.yaml"],
];

const TOO_OLD = "18.20.8";

for (const version of ["24.21.0", ofImage, TOO_OLD]) {
  const node = binaryOf(version);
  if (node === undefined) {
    console.error(
      `Node ${version} for ${process.platform}-${process.arch} is missing: npm has no package ${name} of it.`,
    );
    if (process.env.CI === "true") process.exit(1);
    continue;
  }
  if (version === TOO_OLD) {
    const { status, stderr } = spawnSync(node, ["dist/cli/main.js", "--help"], { encoding: "utf8" });
    console.log(stderr.trim());
    if (status !== 1 || !/^gpu-ledger: needs Node 20\.19 or later; this is 18\.\S+ \(\S+\)\n$/.test(stderr))
      process.exit(1);
    continue;
  }
  const ran = spawnSync(node, ["--version"], { encoding: "utf8" });
  console.log(`On Node ${ran.stdout.trim()}`);
  for (const step of STEPS) {
    console.log(step.join(" "));
    const { status } = spawnSync(node, step, { stdio: "inherit" });
    if (status !== 0) process.exit(status ?? 1);
  }
}

/** Returns the path of a release's binary, and installs it if it is missing; `undefined` if npm has none. */
function binaryOf(version) {
  const folder = `node_modules/.cache/gpu-ledger/node-${version}`;
  const binary = `${folder}/node_modules/${name}/bin/node`;
  if (existsSync(binary)) return binary;
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${version}`];
  const install = spawnSync("npm", args, { stdio: "inherit" });
  return install.status === 0 && existsSync(binary) ? binary : undefined;
}
