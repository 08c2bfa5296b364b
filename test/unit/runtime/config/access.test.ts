import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../runtime/config/config-error.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";
import type { FileProblem } from "../../../../runtime/config/file-problem.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const HASH = "ab".repeat(32);
const FORM = "the SHA-256 of a token, 64 hexadecimal digits, as `gpu-ledger token create --for-config` prints it";
const GIVEN = `${FORM}, { file: path } or { env: NAME }`;

const read = (text: string, env: NodeJS.ProcessEnv = {}) =>
  parseConfig(text, { source: "test", folder: ".", env }).server;

/** The problems of a list of tokens, each written as a flow mapping. */
function problemsOf(...tokens: readonly string[]): readonly FileProblem[] {
  try {
    read(`server: { access: { tokens: [${tokens.join(", ")}] } }`);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("tokens in the configuration", () => {
  it("have a role, teams if the role requires them, a hash, and optionally an end", () => {
    const { access } = read(`
server:
  access:
    tokens:
      - { name: grafana, role: viewer, teams: [vision], sha256: ${HASH}, expires: 2027-01-01 }
      - { name: books, role: finance, sha256: ${"cd".repeat(32)} }
`);
    expect(access.tokens).toEqual([
      { name: "grafana", role: "viewer", teams: ["vision"], sha256: HASH, expires: Date.UTC(2027, 0, 1) },
      { name: "books", role: "finance", teams: [], sha256: "cd".repeat(32) },
    ]);
    expect(read("").access.tokens).toEqual([]);
  });

  it("have hashes that may be in a file or a variable, like secrets", () => {
    const folder = temporaryFolder("access");
    writeFileSync(join(folder, "hash"), `${HASH}\n`);
    writeFileSync(join(folder, "wrong"), "gpul_secret\n");
    const readHash = (sha256: object): string | undefined => {
      const text = JSON.stringify({ server: { access: { tokens: [{ name: "a", role: "finance", sha256 }] } } });
      return parseConfig(text, { source: "test", folder, env: { HASH } }).server.access.tokens[0]?.sha256;
    };
    expect(readHash({ file: "hash" })).toBe(HASH);
    expect(readHash({ env: "HASH" })).toBe(HASH);
    expect(() => readHash({ file: "wrong" })).toThrow(`a mapping is not ${FORM}`);
    expect(() => readHash({ file: "nowhere" })).toThrow("ENOENT");
  });

  it.each([
    [`{ name: a, role: owner, sha256: ${HASH} }`, "role", "owner", "one of: viewer, finance, administrator"],
    [`{ name: a, role: viewer, sha256: ${HASH} }`, "teams", undefined, "at least one team, because role is viewer"],
    [
      `{ name: a, role: finance, teams: [vision], sha256: ${HASH} }`,
      "teams",
      ["vision"],
      "no team, because role finance sees all teams",
    ],
    ["{ name: a, role: finance, sha256: gpul_secret }", "sha256", "gpul_secret", FORM],
    [`{ name: a, role: finance, sha256: ${HASH.toUpperCase()} }`, "sha256", HASH.toUpperCase(), FORM],
    ["{ name: a, role: finance }", "sha256", undefined, `required: ${GIVEN}`],
    ["{ name: a, role: finance, sha256: { env: UNSET } }", "sha256", { env: "UNSET" }, `${GIVEN}; the value is empty`],
    [`{ name: '', role: finance, sha256: ${HASH} }`, "name", "", "a name"],
    [
      `{ name: a, role: finance, sha256: ${HASH}, token: x }`,
      "token",
      "x",
      "no such key; see config/gpu-ledger.example.yaml",
    ],
  ])("refuse %s", (token, key, value, allowed) => {
    expect(problemsOf(token)).toMatchObject([
      { key: `server.access.tokens[0].${key}`, line: 1, ...(value === undefined ? {} : { value }), allowed },
    ]);
  });

  it("refuse an end that is not a time, and a second token with the same name or hash", () => {
    const [wrong] = problemsOf(`{ name: a, role: finance, sha256: ${HASH}, expires: tomorrow }`);
    expect(wrong).toMatchObject({ key: "server.access.tokens[0].expires", value: "tomorrow" });
    expect(wrong!.allowed).toContain("a date such as 2026-03-01");
    const twice = `{ name: a, role: finance, sha256: ${HASH} }`;
    expect(problemsOf(twice, twice).map(({ key, allowed }) => [key, allowed])).toEqual([
      ["server.access.tokens[1].name", "a name that no other token has"],
      ["server.access.tokens[1].sha256", "a sha256 that no other token has"],
    ]);
  });

  it("are allowed beside the token of metrics, which is a secret like others", () => {
    expect(read("server: { metricsToken: { env: METRICS_TOKEN } }", { METRICS_TOKEN: "m" }).metricsToken).toBe("m");
    expect(read("").metricsToken).toBeUndefined();
  });
});
