import { expect, it } from "vitest";
import { isSameProfile } from "../../../domain/mig-profile.ts";

it.each([
  ["1g.10gb", "1g.10gb", true],
  ["7g.79gb", "7g.80gb", true],
  ["1g.11gb", "1g.12gb", true],
  ["1g.10gb", "1g.12gb", true],
  ["1g.10gb", "1g.13gb", false],
  ["1g.10gb", "2g.10gb", false],
  ["1g.10gb+me", "1g.10gb", false],
  ["1g.10gb+me", "1g.10gb+me", true],
  ["1c.3g.20gb", "3g.20gb", false],
  ["1c.3g.20gb", "1c.3g.21gb", true],
  ["nonsense", "1g.10gb", false],
])("profiles %s and %s are the same: %s", (one, other, same) => {
  expect(isSameProfile(one, other)).toBe(same);
  expect(isSameProfile(other, one)).toBe(same);
});
