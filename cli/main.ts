#!/usr/bin/env node
import { readFileSync } from "node:fs";

// An older release of Node fails while it loads the other files, so they are loaded after this check.
const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly engines: { readonly node: string };
};
const [wantedMajor = 0, wantedMinor = 0] = engines.node.replace(">=", "").split(".").map(Number);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < wantedMajor || (major === wantedMajor && minor < wantedMinor)) {
  process.stderr.write(
    `gpu-ledger: needs Node ${wantedMajor}.${wantedMinor} or later; this is ${process.versions.node} (docs/install.md)\n`,
  );
  process.exitCode = 1;
} else {
  const { createProgram } = await import("./program.ts");
  const { stdout, stderr, stdin, env } = process;
  process.exitCode = await createProgram({ stdout, stderr, stdin, env }).run(process.argv.slice(2));
}
