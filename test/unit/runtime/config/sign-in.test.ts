import { expect, it } from "vitest";
import { ConfigError } from "../../../../runtime/config/config-error.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";

const read = (signIn: object, groups: readonly object[] = [{ group: "ml-*", teams: ["vision"] }]) =>
  parseConfig(JSON.stringify({ server: { signIn, access: { groups } } }), { source: "the test", folder: ".", env: {} })
    .server.signIn;

const MINIMAL = {
  issuer: "https://login.example.com/realms/a",
  clientId: "x",
  publicUrl: "https://ledger.example.com/",
};

it("reads a sign-in with its defaults", () => {
  expect(read(MINIMAL)).toMatchObject({
    publicUrl: "https://ledger.example.com",
    scopes: ["openid", "profile", "email"],
    groupsClaim: "groups",
    session: 900_000,
  });
});

it.each([
  ["an issuer without TLS on another machine", { issuer: "http://login.example.com" }],
  ["a server without TLS on another machine", { publicUrl: "http://ledger.example.com" }],
  ["a server under a path", { publicUrl: "https://example.com/ledger" }],
  ["scopes without openid", { scopes: ["email"] }],
  ["no signature", { algorithms: ["none"] }],
  ["a symmetric signature", { algorithms: ["HS256"] }],
  ["a short key", { sessionKey: "short" }],
  ["a session of days", { session: "2d" }],
])("refuses %s", (_, change) => {
  expect(() => read({ ...MINIMAL, ...change })).toThrow(ConfigError);
});

it("refuses a sign-in without a rule for groups, and a rule for viewers without teams", () => {
  expect(() => read(MINIMAL, [])).toThrow("at least one rule, because people sign in");
  expect(() => read(MINIMAL, [{ group: "a" }])).toThrow("at least one team");
  expect(() => read(MINIMAL, [{ group: "/(a+)+/", role: "finance" }])).toThrow("bounded run time");
});
