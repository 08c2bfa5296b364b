import { describe, expect, it } from "vitest";
import { AccessError, accessMode } from "../../../../reports/access/mode.ts";
import { listenAddress } from "../../../../runtime/config/words.ts";

const LOOPBACK = [
  "127.0.0.1:8080",
  "127.8.9.10:0",
  "localhost:8080",
  "LocalHost:8080",
  "[::1]:8080",
  "[0:0:0:0:0:0:0:1]:80",
  "[::ffff:127.0.0.1]:80",
];
const REACHABLE = [
  "0.0.0.0:8080",
  "[::]:8080",
  "[::ffff:10.0.0.1]:80",
  "[fe80::1]:8080",
  "10.0.0.1:8080",
  "126.255.255.255:80",
  "128.0.0.1:80",
  "gpu-node-1:8080",
  "localhost.example.com:80",
  "127.0.0.1.example.com:80",
  // Names that a resolver may or may not resolve to 127.0.0.1.
  "127.1:80",
  "2130706433:80",
  "0:80",
];

describe("a server", () => {
  it.each(LOOPBACK)("is open at %s if there is no token", (listen) => {
    expect(listenAddress.safeParse(listen).success).toBe(true);
    expect(accessMode({ listen, hasTokens: false })).toBe("open");
    expect(accessMode({ listen, hasTokens: true })).toBe("tokens");
  });

  it.each(REACHABLE)("does not start at %s without a token", (listen) => {
    expect(listenAddress.safeParse(listen).success).toBe(true);
    expect(accessMode({ listen, hasTokens: true })).toBe("tokens");
    expect(() => accessMode({ listen, hasTokens: false })).toThrow(AccessError);
  });

  it("explains why it does not start, and what to do", () => {
    expect(() => accessMode({ listen: "0.0.0.0:8080", hasTokens: false })).toThrow(
      /^refuses to start without authentication: .*0\.0\.0\.0:8080 \(server\.listen\).*`gpu-ledger token create NAME/,
    );
  });
});
