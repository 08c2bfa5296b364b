import { expect, it } from "vitest";
import { clientNetwork, createNetworks } from "../../../../runtime/http/networks.ts";

it.each([
  ["10.0.0.7", true],
  ["::ffff:10.0.0.7", true],
  ["10.1.0.7", false],
  ["fd00::9", true],
  ["fd01::9", false],
  ["not an address", false],
  ["", false],
])("of 10.0.0.0/16 and fd00::/64, %s: %s", (address, isIn) => {
  expect(createNetworks(["10.0.0.0/16", "fd00::/64"])(address)).toBe(isIn);
});

it.each([
  ["10.0.0.7", "10.0.0.7"],
  ["::ffff:10.0.0.7", "10.0.0.7"],
  ["2001:db8:0:7::1", "2001:db8:0:7"],
  ["2001:db8::7:0:0:0:1", "2001:db8:0:7"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["::1", "0:0:0:0"],
])("%s is counted as %s", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
