import { describe, expect, it } from "vitest";
import { createAuthenticate, type Asking } from "../../../../reports/access/authenticate.ts";
import { loginCookie, logoutCookie } from "../../../../reports/access/credentials.ts";
import { createThrottle } from "../../../../reports/access/throttle.ts";
import { generateToken, isTokenText, tokenHash, tokenId } from "../../../../reports/access/token.ts";
import type { TokenReader, TokenRefusal } from "../../../../reports/access/token-reader.ts";
import { OPEN, type Viewer } from "../../../../reports/access/viewer.ts";
import type { People } from "../../../../reports/sign-in/people.ts";
import { StoreError } from "../../../../runtime/store/store-error.ts";

const GRAFANA: Viewer = { name: "grafana", role: "viewer", teams: ["vision"] };
const [right, wrong, expired, revoked] = [generateToken(), generateToken(), generateToken(), generateToken()];
const known = new Map<string, Viewer | TokenRefusal>([
  [right, GRAFANA],
  [expired, "expired"],
  [revoked, "revoked"],
]);

/** A server with these tokens, and the queries that it sent. */
function serverWith(given: Partial<TokenReader> = {}, people?: People) {
  const asked: string[] = [];
  let millis = 0;
  const tokens: TokenReader = {
    hasTokens: () => Promise.resolve(true),
    ...given,
    viewerOf(token) {
      asked.push(token);
      return given.viewerOf?.(token) ?? Promise.resolve(known.get(token) ?? "unknown");
    },
  };
  const clock = { nowMillis: () => 0, monotonicMillis: () => millis };
  const authenticate = createAuthenticate({
    isOpen: async () => !(await tokens.hasTokens()),
    tokens,
    throttle: createThrottle({ failures: 3 }),
    clock,
    people,
  });
  const ask = (asking: Partial<Asking>) =>
    authenticate({
      authorization: undefined,
      cookie: undefined,
      isHttps: false,
      remoteAddress: "10.0.0.1",
      person: { headers: {}, cookie: undefined, peer: "10.0.0.1" },
      ...asking,
    });
  return { ask, asked, wait: (more: number) => (millis += more) };
}

const refusal = (status: number, reason: string) => ({
  refusal: expect.objectContaining({ status, reason }) as unknown,
});

describe("a token", () => {
  it("is 256 random bits after a prefix, identified by its hash, and named by the hash's first digits", () => {
    expect(right).toMatch(/^gpul_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(right.slice(5), "base64url")).toHaveLength(32);
    expect(right).not.toBe(wrong);
    expect(isTokenText(right)).toBe(true);
    expect(tokenHash("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(tokenId(tokenHash("abc"))).toBe("ba7816bf8f");
  });
});

describe("a request", () => {
  it.each([
    ["a bearer token", { authorization: `Bearer ${right}` }],
    ["a bearer token with another spelling of the scheme", { authorization: `bearer   ${right}` }],
    ["the cookie", { cookie: `gpu_ledger_token=${right}` }],
    ["the cookie among others", { cookie: `a=b; x_gpu_ledger_token=z; gpu_ledger_token=${right} ; c` }],
    [
      "a bearer token beside an expired cookie",
      { authorization: `Bearer ${right}`, cookie: `gpu_ledger_token=${expired}` },
    ],
  ])("gets its viewer by %s", async (_, asking) => {
    expect(await serverWith().ask(asking)).toEqual({ viewer: GRAFANA, by: "token" });
  });

  it("without a token gets the answer that a token is required, and is not a failed attempt", async () => {
    const { ask, asked } = serverWith();
    for (let time = 0; time < 9; time += 1)
      expect(await ask({ cookie: "theme=dark" })).toEqual(refusal(401, "missing"));
    expect(asked).toEqual([]);
  });

  it("gets the same answer for an unknown, expired, revoked or malformed token; only the log has the reason", async () => {
    const answers = [];
    for (const token of [wrong, expired, revoked, "gpul_short"])
      answers.push(await serverWith().ask({ authorization: `Bearer ${token}` }));
    const refusals = answers.map((answer) => ("refusal" in answer ? answer.refusal : undefined));
    expect(refusals.map((each) => each?.reason)).toEqual(["unknown", "expired", "revoked", "malformed"]);
    const ids = [wrong, expired, revoked].map((token) => tokenId(tokenHash(token)));
    expect(refusals.map((each) => each?.tokenId)).toEqual([...ids, undefined]);
    expect(new Set(refusals.map((each) => `${each?.status} ${each?.message}`))).toEqual(
      new Set(["401 the token is not accepted"]),
    );
  });

  it.each([
    ["another scheme", { authorization: `Basic ${Buffer.from(`x:${right}`).toString("base64")}` }],
    ["no scheme", { authorization: right }],
    ["nothing", { authorization: "" }],
    ["a scheme without a token", { authorization: "Bearer " }],
    ["two tokens in one header", { authorization: `Bearer ${right}, Bearer ${right}` }],
    ["two headers", { authorization: [`Bearer ${right}`, `Bearer ${right}`] }],
    ["a tab, a line feed or a zero in it", { authorization: `Bearer ${right}\n` }],
    ["a zero byte", { authorization: `Bearer ${right}\u0000` }],
    ["other characters with the same look", { authorization: `Bearer ${right.slice(0, -1)}＿` }],
    ["padding", { authorization: `Bearer ${right}=` }],
    ["a header of a megabyte", { authorization: `Bearer ${" ".repeat(1_000_000)}${right}` }],
    ["a valid cookie beside an invalid header", { authorization: "Negotiate x", cookie: `gpu_ledger_token=${right}` }],
    ["two cookies of this name", { cookie: `gpu_ledger_token=${right}; gpu_ledger_token=${right}` }],
    ["a quoted cookie", { cookie: `gpu_ledger_token="${right}"` }],
    ["an empty cookie", { cookie: "gpu_ledger_token=" }],
    ["a cookie of a megabyte", { cookie: `gpu_ledger_token=${right};${"a".repeat(1_000_000)}` }],
  ])("is refused with %s, without a query for a token", async (_, asking) => {
    const { ask, asked } = serverWith();
    expect(await ask(asking)).toEqual(refusal(401, "malformed"));
    expect(asked).toEqual([]);
  });

  it("with a wrong token is refused for a minute after too many from its address; a valid token never is", async () => {
    const { ask, wait } = serverWith();
    const wrongly = { authorization: `Bearer ${wrong}` };
    for (let time = 0; time < 9; time += 1) await ask({ authorization: `Bearer ${expired}` });
    for (let time = 0; time < 3; time += 1) expect(await ask(wrongly)).toMatchObject(refusal(401, "unknown"));
    expect(await ask(wrongly)).toEqual(refusal(429, "throttled"));
    expect(await ask({ authorization: `Bearer ${expired}` })).toEqual(refusal(429, "throttled"));
    expect(await ask({ authorization: `Bearer ${right}` })).toEqual({ viewer: GRAFANA, by: "token" });
    expect(await ask({ ...wrongly, remoteAddress: "10.0.0.2" })).toMatchObject(refusal(401, "unknown"));
    wait(60_000);
    expect(await ask(wrongly)).toMatchObject(refusal(401, "unknown"));
  });

  it("gets the answer to try again if the store is away; a bug gets another answer", async () => {
    const away = () => Promise.reject(new StoreError("unavailable", "away", { retriable: true }));
    expect(await serverWith({ viewerOf: away }).ask({ authorization: `Bearer ${right}` })).toEqual(
      refusal(503, "store away"),
    );
    expect(await serverWith({ hasTokens: away }).ask({})).toEqual(refusal(503, "store away"));
    const bug = () => Promise.reject(new TypeError("a bug"));
    await expect(serverWith({ viewerOf: bug }).ask({ authorization: `Bearer ${right}` })).rejects.toThrow("a bug");
  });
});

it("an open server serves everybody, with or without a token", async () => {
  const open = serverWith({ hasTokens: () => Promise.resolve(false) });
  expect(await open.ask({ cookie: `gpu_ledger_token=${wrong}` })).toEqual({ viewer: OPEN, by: "open" });
  expect(await serverWith().ask({})).toEqual(refusal(401, "missing"));
});

describe("the cookie of pages", () => {
  it("is hidden from scripts and other sites, is of this host alone if there is https, and can be removed", () => {
    expect(loginCookie(right, { isHttps: true })).toBe(
      `__Host-gpu_ledger_token=${right}; Path=/; HttpOnly; SameSite=Lax; Secure`,
    );
    expect(loginCookie(right, { isHttps: false })).toBe(`gpu_ledger_token=${right}; Path=/; HttpOnly; SameSite=Lax`);
    expect(logoutCookie({ isHttps: true })).toBe(
      "__Host-gpu_ledger_token=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0",
    );
  });

  it("of another site beside this one is not read with https", async () => {
    const tossed = { isHttps: true, cookie: `gpu_ledger_token=${wrong}; __Host-gpu_ledger_token=${right}` };
    expect(await serverWith().ask(tossed)).toEqual({ viewer: GRAFANA, by: "token" });
    expect(await serverWith().ask({ isHttps: true, cookie: `gpu_ledger_token=${wrong}` })).toEqual(
      refusal(401, "missing"),
    );
  });

  it("counts after the session of a person, and before a session that is none", async () => {
    const person: Viewer = { name: "ann", role: "viewer", teams: ["nlp"] };
    const server = (found: Awaited<ReturnType<People["viewerOf"]>>) =>
      serverWith({}, { signIn: undefined, viewerOf: () => Promise.resolve(found) });
    const cookie = `gpu_ledger_token=${wrong}`;
    expect(await server({ viewer: person, by: "sign-in" }).ask({ cookie })).toEqual({ viewer: person, by: "sign-in" });
    expect(await server("session ended").ask({ cookie })).toEqual(refusal(401, "session ended"));
    expect(await server("no role").ask({ cookie })).toEqual(refusal(403, "no role"));
    expect(await server("no role").ask({ cookie: `gpu_ledger_token=${right}` })).toEqual({
      viewer: GRAFANA,
      by: "token",
    });
    expect(await server({ viewer: person, by: "sign-in" }).ask({ authorization: `Bearer ${right}` })).toEqual({
      viewer: GRAFANA,
      by: "token",
    });
    const guessing = server("session ended");
    for (let time = 0; time < 3; time += 1) await guessing.ask({ cookie });
    expect(await guessing.ask({ cookie })).toEqual(refusal(429, "throttled"));
  });
});
