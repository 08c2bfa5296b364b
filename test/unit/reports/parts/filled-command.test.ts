import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { filledCommand } from "../../../../reports/parts/filled-command.ts";

const HOSTILE = [
  "train-0",
  "a b",
  "x; touch /tmp/pwned",
  "$(id)`id`$HOME",
  `it's "quoted"`,
  String.raw`back\slash\\`,
  "'; id #",
  "*?[a]!~&|<>(){}",
  "ü\u202E",
];

/** The blocks of code of all runbooks, by language. */
function blocksOf(language: string): readonly string[] {
  return readdirSync("docs/runbooks").flatMap((file) => {
    const text = readFileSync(`docs/runbooks/${file}`, "utf8");
    return [...text.matchAll(new RegExp(`^ *\`\`\`${language}\n([^]*?)^ *\`\`\`$`, "gm"))].map(([, code]) => code!);
  });
}

describe("a command with names", () => {
  it.each(HOSTILE)("gives the shell the name %s as one word, in every kind of quotes", (name) => {
    const words = (command: string): string =>
      execFileSync("/bin/sh", ["-c", filledCommand(command, "sh", { POD: name })], { encoding: "utf8" });
    expect(words("printf '<%s>' POD")).toBe(`<${name}>`);
    expect(words("printf '<%s>' node/POD:9400 end")).toBe(`<node/${name}:9400><end>`);
    expect(words("printf '<%s>' 'a POD b'")).toBe(`<a ${name} b>`);
    expect(words(`printf '<%s>' "a POD b"`)).toBe(`<a ${name} b>`);
    expect(words(String.raw`printf '<%s>' \'POD\"`)).toBe(`<'${name}">`);
  });

  it.each(HOSTILE)("has the name %s as a text of a query", (name) => {
    const query = filledCommand('sum by (UUID) (a:b:c{pod="POD", UUID="UUID"})', "promql", {
      POD: name,
      UUID: "GPU-1",
    });
    expect(query).toBe(`sum by (UUID) (a:b:c{pod=${JSON.stringify(name)}, UUID="GPU-1"})`);
  });

  it("keeps words without a name, parts of other words, labels and heads of columns", () => {
    const names = { POD: "p", NODE: "n", UUID: "" };
    const filled = (code: string, language?: string): string => filledCommand(code, language, names);
    expect(filled("get EXPORTER_POD -i UUID --head POD:.metadata.name POD=1 NODE", "sh")).toBe(
      "get EXPORTER_POD -i UUID --head POD:.metadata.name POD=1 n",
    );
    expect(filled("kubectl cordon NODE")).toBe("kubectl cordon n");
    expect(filled('up{node="NODE"}')).toBe('up{node="n"}');
    expect(filled("NODE")).toBe("NODE");
  });

  it("has a name in each place of the runbooks", () => {
    const names = { CLUSTER: "c0", NODE: "n0", UUID: "u0", NAMESPACE: "s0", POD: "p0", WORKLOAD: "w0", TEAM: "t0" };
    const isLeft = /(?<!\w)(NODE|NAMESPACE|POD|WORKLOAD|TEAM)(?![\w=]|:\.)|"UUID"|-i UUID/;
    const [shell, queries] = [blocksOf("sh"), blocksOf("promql")];
    expect(Math.min(shell.length, queries.length)).toBeGreaterThan(50);
    expect(shell.map((code) => filledCommand(code, "sh", names)).filter((code) => isLeft.test(code))).toEqual([]);
    expect(queries.map((code) => filledCommand(code, "promql", names)).filter((code) => isLeft.test(code))).toEqual([]);
  });

  it("can be parsed by the shell in every runbook, whatever the names are", () => {
    const name = `'"$(id)`;
    const names = { CLUSTER: name, NODE: name, UUID: name, NAMESPACE: name, POD: name, WORKLOAD: name, TEAM: name };
    for (const code of blocksOf("sh"))
      expect(() => execFileSync("/bin/bash", ["-n", "-c", filledCommand(code, "sh", names)])).not.toThrow();
  });
});
