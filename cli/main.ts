#!/usr/bin/env node
import { createProgram } from "./program.ts";

const program = createProgram({
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
});
process.exitCode = await program.run(process.argv.slice(2));
