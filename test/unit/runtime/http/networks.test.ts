import { expect, it } from "vitest";
import { createNetworks } from "../../../../runtime/http/networks.ts";

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
