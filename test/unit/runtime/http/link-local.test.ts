import type { LookupAddress } from "node:dns";
import { describe, expect, it } from "vitest";
import { isLinkLocal, LINK_LOCAL_CODE, lookupElsewhere } from "../../../../runtime/http/link-local.ts";

describe("a link-local address", () => {
  it.each([
    ["169.254.169.254", true],
    ["169.254.0.1", true],
    ["[fe80::1]", true],
    ["fe80::1%eth0", true],
    ["[fd00:ec2::254]", true],
    ["::ffff:169.254.169.254", true],
    ["100.100.100.200", true],
    ["168.63.129.16", true],
    ["[fd20:ce::254]", true],
    ["[::ffff:a9fe:a9fe]", true],
    ["[fd00:ec2::23]", true],
    ["[64:ff9b::a9fe:a9fe]", true],
    ["[64:ff9b::169.254.169.254]", true],
    ["[64:ff9b:1::a83f:8110]", true],
    ["[2002:a9fe:a9fe::1]", true],
    ["[2002:6464:64c8::]", true],
    ["[::169.254.169.254]", true],
    ["[64:ff9b::a00:1]", false],
    ["[2002:a00:1::]", false],
    ["[::1]", false],
    ["10.0.0.1", false],
    ["127.0.0.1", false],
    ["[2001:db8::1]", false],
    ["169.254.example.com", false],
  ])("is known by its form: %s is %s", (host, expected) => {
    expect(isLinkLocal(host)).toBe(expected);
  });

  it.each([
    [[{ address: "169.254.169.254", family: 4 }], LINK_LOCAL_CODE],
    [
      [
        { address: "203.0.113.7", family: 4 },
        { address: "fe80::1", family: 6 },
      ],
      LINK_LOCAL_CODE,
    ],
    [[{ address: "203.0.113.7", family: 4 }], undefined],
  ] as const)("is refused if a name has it among its addresses: %j", (addresses, code) => {
    const lookup = ((_: string, __: object, done: (error: null, found: readonly LookupAddress[]) => void) =>
      done(null, addresses)) as never;
    let answer: { readonly error: unknown; readonly found: unknown } | undefined;
    lookupElsewhere("metadata.example", { all: true }, (error, found) => (answer = { error, found }), lookup);
    expect(answer).toMatchObject(code === undefined ? { error: null, found: addresses } : { error: { code } });
  });
});
