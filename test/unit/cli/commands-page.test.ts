import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createProgram } from "../../../cli/program.ts";

/** The names of the subcommands in a help text. */
async function subcommandsOf(args: readonly string[]): Promise<readonly string[]> {
  const stdout = new PassThrough();
  const program = createProgram({ env: {}, stdin: process.stdin, stdout, stderr: new PassThrough() } as never);
  expect(await program.run([...args, "--help"])).toBe(0);
  const [, commands = ""] = String(stdout.read()).split("Commands:\n");
  return [...commands.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name!).filter((name) => name !== "help");
}

it("docs/commands.md has every command, and every file that `generate` makes", async () => {
  const cells = [...readFileSync("docs/commands.md", "utf8").matchAll(/^- (`.*?`):/gm)].map(([, cell]) => cell!);
  const documented = new Set(
    cells.flatMap((cell) => [...cell.matchAll(/`([a-z][\w-]*(?: [a-z][\w-]*)?)/g)].map(([, name]) => name!)),
  );
  const verbs = await subcommandsOf([]);
  expect(verbs.length).toBeGreaterThan(20);
  expect(verbs.filter((verb) => ![...documented].some((name) => name.split(" ")[0] === verb))).toEqual([]);
  const generated = (await subcommandsOf(["generate"])).map((name) => `generate ${name}`);
  expect([...documented].filter((name) => name.startsWith("generate ")).toSorted()).toEqual(generated.toSorted());
});
