import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import pLimit from "p-limit";
import { expect, it } from "vitest";

/** The program as released, from the build that runs before the integration tests. */
const PROGRAM = resolve("dist/cli/main.js");
/** Packages that take longer to load than the whole help. */
const HEAVY =
  /\/node_modules\/(echarts|zrender|zod|yaml|fastify|pino|kafkajs|@opentelemetry|@clickhouse|@kubernetes)\//;
/** A few more modules than the help of `audit` loads, which has the names of all practices. Most verbs load 16. */
const MOST_OF_A_VERB = 55;
/** A few more modules than the help of all verbs loads. */
const MOST_OF_ALL = 115;

/** Prints a help. Returns the text and the modules that Node loaded for it: Node's log of ES modules has a line for each of them. */
async function helpOf(
  args: readonly string[],
): Promise<{ readonly text: string; readonly modules: readonly string[] }> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM, ...args, "--help"], {
    env: { ...process.env, NODE_DEBUG: "esm" },
    maxBuffer: 64 * 2 ** 20,
  });
  const loaded = [...stderr.matchAll(/^ESM \d+: Storing (file:\S+)/gm)].map(([, url]) => url!);
  return { text: stdout, modules: [...new Set(loaded)] };
}

it("The help of a verb loads the declaration of the verb, not what the verb needs to run", async () => {
  const all = await helpOf([]);
  const [, commands = ""] = all.text.split("Commands:\n");
  const verbs = [...commands.matchAll(/^ {2}([a-z][\w-]*)/gm)]
    .map(([, verb]) => verb!)
    // The script of completions has the declarations of all verbs.
    .filter((verb) => verb !== "help" && verb !== "completion");
  expect(verbs.length).toBeGreaterThan(20);
  const atOnce = pLimit(2);
  const helps = await Promise.all(verbs.map((verb) => atOnce(async () => ({ verb, ...(await helpOf([verb])) }))));

  for (const { modules } of [all, ...helps]) expect(modules).toContain(new URL(`file://${PROGRAM}`).href);
  expect(all.modules.length).toBeLessThanOrEqual(MOST_OF_ALL);
  expect(
    helps.flatMap(({ verb, modules }) =>
      modules.length > MOST_OF_A_VERB ? [`${verb}: ${modules.length} modules`] : [],
    ),
  ).toEqual([]);
  expect(all.modules.filter((url) => HEAVY.test(url))).toEqual([]);
  expect(helps.flatMap(({ modules }) => modules.filter((url) => HEAVY.test(url)))).toEqual([]);
});
