import { userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createTokenReader } from "../../reports/access/token-reader.ts";
import { tokenHash, tokenId } from "../../reports/access/token.ts";
import { systemClock } from "../../runtime/clock.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";

const TOKEN = /^gpul_[\w-]{43}$/;

describe("the command token", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let store: StoreClient;
  let file: string;

  beforeAll(async () => {
    folder = createCommandFolder();
    store = await createTestDatabase("token_commands");
    const { username, password } = embedded.user;
    file = folder.write("gpu-ledger.json", {
      store: {
        kind: "clickhouse",
        database: "token_commands",
        clickhouse: { url: embedded.url, username, password },
      },
    });
  });
  afterAll(async () => {
    await store.close();
    await folder.dispose();
  });

  const run = (...args: readonly string[]) => folder.call([...args, "--config", file]);

  it("makes tokens, lists and revokes them, and records the user; a token's text is printed only when it is made", async () => {
    expect((await run("token", "list")).stdout).toBe("the store has no tokens\n");
    const made = await run("token", "create", "grafana", "--role", "viewer", "--team", "vision", "--team", "nlp");
    expect(made.code).toBe(0);
    const text = made.stdout.trimEnd();
    expect(text).toMatch(TOKEN);
    const id = tokenId(tokenHash(text));
    expect(made.stderr).toMatch(
      new RegExp(
        `^${id}: token of grafana \\(viewer of vision, nlp\\), valid until \\S+\\. The token is shown only once\\.\n$`,
      ),
    );
    expect(await createTokenReader(store, systemClock, []).viewerOf(text)).toEqual({
      name: "grafana",
      role: "viewer",
      teams: ["vision", "nlp"],
    });
    const why = ["--by", "ops", "--why", "the laptop is lost"];
    const books = await run("token", "create", "books", "--role", "finance", "--expires", "never", ...why);
    expect(books.stderr).toContain("token of books (finance), without an end");
    expect(await run("token", "revoke", "grafana", ...why)).toEqual({
      code: 0,
      stdout: `${id} of grafana is revoked\n`,
      stderr: "",
    });
    expect(await createTokenReader(store, systemClock, []).viewerOf(text)).toBe("revoked");

    const listed = await run("token", "list", "--format", "json");
    const day = 86_400_000;
    const records = JSON.parse(listed.stdout) as readonly Record<string, string>[];
    expect(records).toMatchObject([
      {
        id,
        name: "grafana",
        teams: ["vision", "nlp"],
        state: "revoked",
        createdBy: userInfo().username,
        revokedBy: "ops",
      },
      { name: "books", role: "finance", teams: "all", state: "valid", expiresAt: null, revokedAt: null },
    ]);
    expect(Date.parse(records[0]!["expiresAt"]!) - Date.parse(records[0]!["createdAt"]!)).toBe(90 * day);
    const table = (await run("token", "list")).stdout.split("\n");
    expect(table[0]).toMatch(/^id +name +role +teams +state +expires +created +by$/);
    expect(table[1]).toMatch(new RegExp(`^${id}  grafana  viewer   vision, nlp  revoked by ops at \\S+Z `));

    const trail = await run("audit", "--format", "json");
    const entries = JSON.parse(trail.stdout) as readonly Record<string, string>[];
    expect(entries.map(({ who, what, subject, why }) => [who, what, subject, why])).toEqual([
      [userInfo().username, "token created", `grafana (${id})`, ""],
      ["ops", "token created", `books (${records[1]!["id"]})`, "the laptop is lost"],
      ["ops", "token revoked", `grafana (${id})`, "the laptop is lost"],
    ]);
    expect(JSON.parse(entries[0]!["details"]!)).toMatchObject({ role: "viewer", teams: ["vision", "nlp"] });
    const chosen = async (...options: readonly string[]): Promise<readonly string[]> =>
      (JSON.parse((await run("audit", "--format", "json", ...options)).stdout) as typeof entries).map(
        ({ who, what }) => `${who} ${what}`,
      );
    expect(await chosen("--who", "op?", "--what", "token r*")).toEqual(["ops token revoked"]);
    expect(await chosen("--what", "*_*")).toEqual([]);
    expect(await chosen("--until", "2000-01-01")).toEqual([]);
    expect(await chosen("--since", "2000-01-01", "--what", "token created")).toHaveLength(2);
    const printed = [listed, trail, ...table, made.stderr].map((each) => JSON.stringify(each)).join("");
    expect(printed).not.toMatch(/gpul_|[0-9a-f]{64}/);
  });

  it("makes tokens for a configuration: the entry holds no secret, works unchanged, and nothing is stored", async () => {
    const before = (await run("token", "list", "--format", "json")).stdout;
    const args = ["create", "ci", "--role", "viewer", "--team", "a: b", "--expires", "2100-01-01", "--for-config"];
    // It needs no store, nor a valid configuration.
    const { code, stdout } = await folder.call(["token", ...args, "--config", "/nowhere"]);
    const [text = "", ...entry] = stdout.split("\n");
    expect([code, TOKEN.test(text)]).toEqual([0, true]);
    expect(entry.join("\n")).not.toContain("gpul_");
    const { access } = parseConfig(entry.join("\n"), { source: "entry", folder: ".", env: {} }).server;
    expect(parse(entry.join("\n"))).toMatchObject({ server: { access: { tokens: [{ sha256: tokenHash(text) }] } } });
    expect(await createTokenReader(store, systemClock, access.tokens).viewerOf(text)).toEqual({
      name: "ci",
      role: "viewer",
      teams: ["a: b"],
    });
    expect((await run("token", "list", "--format", "json")).stdout).toBe(before);
  });

  it.each([
    [2, ["create", "x"], "--role"],
    [2, ["create", "x", "--role", "owner"], "viewer, finance, administrator"],
    [1, ["create", "x", "--role", "viewer"], "a viewer sees teams: name one at least"],
    [1, ["create", "x", "--role", "finance", "--team", "vision"], "the role finance sees all teams: name none"],
    [
      2,
      ["create", "x", "--role", "finance", "--expires", "soon"],
      "--expires soon: must be never, days such as 90d, or a date",
    ],
    [2, ["create", "x", "--role", "finance", "--expires", "2020-01-01"], "--expires 2020-01-01: must be in the future"],
    [1, ["create", "books", "--role", "finance"], "books has a token, "],
    [1, ["revoke", "nobody"], "nobody: no token of this id or name can be used"],
  ])("ends with %i for token %j", async (code, args, why) => {
    const outcome = await run("token", ...args);
    expect(outcome).toMatchObject({ code, stdout: "" });
    expect(outcome.stderr).toContain(why);
  });
});
