import { describe, expect, it } from "vitest";
import { foreignRequest, type GuardedPort } from "../../../../runtime/http/sites.ts";

const OPEN: GuardedPort = { listen: "127.0.0.1:8080", isOpen: true };
const GUARDED: GuardedPort = { listen: "0.0.0.0:8080", isOpen: false, names: ["gpu.example.com"] };

describe("the name of an open port of this machine", () => {
  it.each(["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "localhost", undefined])("can be %s", (host) => {
    expect(foreignRequest({ headers: { host } }, OPEN)).toBeUndefined();
  });

  it.each(["rebound.example.com:8080", "10.0.0.1", "localhost.example.com", "127.0.0.1@example.com", ""])(
    "cannot be %s",
    (host) => {
      expect(foreignRequest({ headers: { host } }, OPEN)).toBe("foreign host");
      expect(foreignRequest({ headers: { host } }, { ...OPEN, isOpen: false })).toBeUndefined();
      expect(foreignRequest({ headers: { host } }, { ...OPEN, listen: "10.0.0.7:8080" })).toBeUndefined();
    },
  );
});

describe("a request that can change something", () => {
  const post = (headers: Readonly<Record<string, string>>, port = GUARDED) =>
    foreignRequest({ method: "POST", headers: { host: "ledger:8080", ...headers } }, port);

  it.each([
    ["of a program", {}],
    ["of a page of this server", { origin: "http://ledger:8080" }],
    ["of a page of this server behind a proxy", { origin: "https://gpu.example.com" }],
    ["that the browser calls its own", { origin: "https://proxy.example.com", "sec-fetch-site": "same-origin" }],
    ["that a person has typed", { "sec-fetch-site": "none" }],
  ])("is served: %s", (_, headers) => {
    expect(post(headers)).toBeUndefined();
  });

  it.each([
    ["of another site", { origin: "https://evil.example" }],
    ["of another port of this host", { origin: "http://ledger:9090" }],
    ["of a hidden page", { origin: "null" }],
    ["of nonsense", { origin: "ledger:8080" }],
    ["that the browser calls another site's", { "sec-fetch-site": "cross-site" }],
    ["that the browser calls a neighbor's", { origin: "http://ledger:8080", "sec-fetch-site": "same-site" }],
  ])("is refused: %s", (_, headers) => {
    expect(post(headers)).toBe("foreign origin");
    expect(foreignRequest({ method: "GET", headers }, GUARDED)).toBeUndefined();
  });
});
