import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ADMIN_TOKEN, ADMIN_TOKEN_HASH, makeSecrets, SECRETS } from "../../../../cli/generate/secrets.ts";
import { isTokenText, tokenHash } from "../../../../reports/access/token.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const contentOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));

describe("the secrets of a stack", () => {
  it("are random and different, and are in files that a container's user may read", () => {
    const folder = temporaryFolder("secrets");
    const [first, second] = [join(folder, "first"), join(folder, "a", "second")];
    expect(makeSecrets(first)).toEqual(Object.keys(SECRETS).map((name) => join(first, name)));
    makeSecrets(second);
    const texts = [contentOf(first), contentOf(second)].flatMap((content) => Object.values(content));
    expect(new Set(texts).size).toBe(2 * (Object.keys(SECRETS).length + 1));
    for (const text of texts) expect(text).toMatch(/^[\w-]{43,}$/);
    for (const name of readdirSync(first)) expect(statSync(join(first, name)).mode & 0o444).toBe(0o444);
  });

  it("have an administrator's token, and its hash in the form of the configuration", () => {
    const folder = temporaryFolder("secrets");
    makeSecrets(folder);
    const { [ADMIN_TOKEN]: token, [ADMIN_TOKEN_HASH]: hash } = contentOf(folder);
    expect(isTokenText(token!)).toBe(true);
    expect(hash).toBe(tokenHash(token!));
  });

  it("stay the same at a second start; a removed secret is made again, and a new token also gets a new hash", () => {
    const folder = temporaryFolder("secrets");
    makeSecrets(folder);
    const before = contentOf(folder);
    expect(makeSecrets(folder)).toEqual([]);
    expect(contentOf(folder)).toEqual(before);
    rmSync(join(folder, "reader-password"));
    writeFileSync(join(folder, ADMIN_TOKEN), "gpul_by-hand\n");
    expect(makeSecrets(folder)).toEqual([join(folder, "reader-password")]);
    const after = contentOf(folder);
    expect(after["reader-password"]).not.toBe(before["reader-password"]);
    expect(after["clickhouse-password"]).toBe(before["clickhouse-password"]);
    expect(after[ADMIN_TOKEN_HASH]).toBe(tokenHash("gpul_by-hand"));
  });
});
