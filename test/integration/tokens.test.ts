import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTokenReader } from "../../reports/access/token-reader.ts";
import { generateToken, tokenHash } from "../../reports/access/token.ts";
import { createToken, listTokens, revokeToken, type TokenRequest } from "../../reports/access/tokens.ts";
import { maySeeTeam, type Viewer } from "../../reports/access/viewer.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

const NOW = Date.UTC(2026, 2, 1);
const ops = { by: "ops", why: "for the dashboards" };
const request = (name: string, more: Partial<TokenRequest> = {}): TokenRequest => ({
  name,
  role: "viewer",
  teams: ["vision"],
  expiresMillis: NOW + DAY_MILLIS,
  ...more,
});

/** A clock that stands still until a test moves it. */
function standingClock() {
  let millis = NOW;
  return { nowMillis: () => millis, monotonicMillis: () => millis, move: (more: number) => (millis += more) };
}

describe("tokens of the store", () => {
  let embedded: TestStore;
  let store: StoreClient;

  beforeAll(async () => {
    embedded = await startTestStore();
    store = await createTestDatabase("tokens", embedded);
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });

  it("are valid with their role and teams until they end, and no others are", async () => {
    const clock = standingClock();
    const reader = createTokenReader(store, clock, []);
    expect(await reader.hasTokens()).toBe(false);
    const vision = await createToken(store, request("grafana"), ops, NOW);
    const books = await createToken(
      store,
      request("books", { role: "finance", teams: [], expiresMillis: undefined }),
      ops,
      NOW,
    );
    clock.move(3_000);
    expect(await reader.hasTokens()).toBe(true);
    const viewer = (await reader.viewerOf(vision.text)) as Viewer;
    expect(viewer).toEqual({ name: "grafana", role: "viewer", teams: ["vision"] });
    expect([maySeeTeam(viewer, "vision"), maySeeTeam(viewer, "nlp")]).toEqual([true, false]);
    expect(await reader.viewerOf(books.text)).toEqual({ name: "books", role: "finance", teams: "all" });
    for (const text of [generateToken(), vision.hash, vision.id, "", `${vision.text}x`])
      expect(await reader.viewerOf(text)).toBe("unknown");
    clock.move(DAY_MILLIS - 3_001);
    expect(await reader.viewerOf(vision.text)).toEqual(viewer);
    clock.move(1);
    expect(await reader.viewerOf(vision.text)).toBe("expired");
    expect(await reader.viewerOf(books.text)).toMatchObject({ role: "finance" });
  });

  it("are invalid at most five seconds after they are revoked, by this process or another", async () => {
    const clock = standingClock();
    const { text } = await createToken(store, request("laptop"), ops, NOW - 2 * DAY_MILLIS);
    const phone = await createToken(store, request("phone", { expiresMillis: undefined }), ops, NOW);
    const reader = createTokenReader(store, clock, []);
    clock.move(DAY_MILLIS);
    expect(await reader.viewerOf(text)).toBe("expired");
    expect(await reader.viewerOf(phone.text)).toMatchObject({ name: "phone" });
    await revokeToken(store, "phone", ops, clock.nowMillis());
    clock.move(5_000);
    expect(await reader.viewerOf(phone.text)).toBe("revoked");
  });

  it("have unique names while they are valid, and are revoked by name or by id", async () => {
    const first = await createToken(store, request("shared"), ops, NOW);
    await expect(createToken(store, request("shared"), ops, NOW)).rejects.toThrow(
      `shared has a token, ${first.id}: revoke it, or choose another name`,
    );
    expect(await revokeToken(store, first.id, ops, NOW)).toMatchObject({ id: first.id });
    await expect(revokeToken(store, first.id, ops, NOW)).rejects.toThrow("no token of this id or name can be used");
    const second = await createToken(store, request("shared"), ops, NOW);
    // Two that were made at the same moment.
    const twin = {
      id: "aaaaaaaaaa",
      what: "created",
      at: new Date(NOW).toISOString(),
      name: "shared",
      role: "finance",
    };
    await store.insertJson("access_tokens", [twin]);
    await expect(revokeToken(store, "shared", ops, NOW)).rejects.toThrow("several tokens have this name");
    await revokeToken(store, "aaaaaaaaaa", ops, NOW);
    expect(await revokeToken(store, "shared", ops, NOW)).toMatchObject({ id: second.id });
  });

  it.each([
    [request("a", { teams: [] }), "name one at least"],
    [request("a", { role: "finance" }), "sees all teams: name none"],
    [request("a\nb"), "1 to 100 characters of one line"],
    [request(""), "1 to 100 characters of one line"],
  ])("are not made of %o", async (wrong, why) => {
    await expect(createToken(store, wrong, ops, NOW)).rejects.toThrow(why);
  });

  it("give nothing if a row has a role that is unknown to this release", async () => {
    const { text, id } = await createToken(store, request("tomorrow"), ops, NOW);
    await store.command(
      "ALTER TABLE access_tokens UPDATE role = 'owner' WHERE id = {id:String} SETTINGS mutations_sync = 1",
      { id },
    );
    expect(await createTokenReader(store, standingClock(), []).viewerOf(text)).toBe("unknown");
  });

  it("are in no file of the store, in no answer and in no row; their hashes are", async () => {
    const { text, hash } = await createToken(store, request("secret"), ops, NOW);
    expect(JSON.stringify(await listTokens(store))).not.toContain(text);
    const rows = JSON.stringify(await store.query("SELECT * FROM access_tokens"));
    expect(rows).toContain(hash);
    expect(rows).not.toContain(text);
    expect(JSON.stringify(await store.query("SELECT * FROM audit_trail"))).not.toMatch(new RegExp(`gpul_|${hash}`));
    const files = readdirSync(embedded.folder, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes("gpul_"))).toEqual([]);
  });

  it("of the configuration need no store, and end at their configured time", async () => {
    const [text, ended] = [generateToken(), generateToken()];
    const away = { ...store, query: () => Promise.reject(new Error("it is asked")) };
    const reader = createTokenReader(away, standingClock(), [
      { name: "ci", role: "viewer", teams: ["nlp"], sha256: tokenHash(text) },
      { name: "old", role: "administrator", teams: [], sha256: tokenHash(ended), expires: NOW },
    ]);
    expect(await reader.hasTokens()).toBe(true);
    expect(await reader.viewerOf(text)).toEqual({ name: "ci", role: "viewer", teams: ["nlp"] });
    expect(await reader.viewerOf(ended)).toBe("expired");
  });
});
