import { expect, it } from "vitest";
import { checkPeople } from "../../../../cli/check/people.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";

async function findings(server: string) {
  const groups = "access: { groups: [{ group: ml, teams: [nlp] }] }";
  const config = parseConfig(`server: { ${groups}, ${server} }`, { source: "the test", folder: ".", env: {} });
  const found: (readonly unknown[])[] = [];
  for await (const { ok, warns, what, answer } of checkPeople(config)) found.push([ok, warns, what, answer]);
  return found;
}

it("warns of trusted networks that have more than proxies", async () => {
  expect(await findings("trustProxy: [10.0.0.0/8, 10.0.12.0/28, 10.0.0.7, fd00::/48, fd00::/64]")).toEqual([
    [true, true, "server.trustProxy", expect.stringMatching(/^10\.0\.0\.0\/8 is more than some proxies: .* its own/)],
    [true, true, "server.trustProxy", expect.stringMatching(/^fd00::\/48 is/)],
  ]);
  expect(await findings("proxySignIn: { from: [10.0.0.0/16] }")).toEqual([
    [true, true, "server.proxySignIn.from", expect.stringContaining("anybody as a person")],
  ]);
});

it("asks the issuer for its addresses, and fails if it does not answer", async () => {
  const signIn = "signIn: { issuer: 'http://127.0.0.1:1', clientId: x, publicUrl: 'http://127.0.0.1:2' }";
  expect(await findings(signIn)).toEqual([
    [false, undefined, "server.signIn", expect.stringContaining("the issuer does not answer")],
  ]);
});
