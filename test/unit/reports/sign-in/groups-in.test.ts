import { expect, it } from "vitest";
import { groupsIn } from "../../../../reports/sign-in/issuer.ts";

it.each([
  ["a list", { groups: ["/a/b", "c"] }, "groups", ["/a/b", "c"]],
  ["a text", { groups: "a" }, "groups", ["a"]],
  ["a list with other values", { groups: ["a", 1, null, ["b"]] }, "groups", ["a"]],
  ["an empty list", { groups: [] }, "groups", []],
  ["a path, as Keycloak sends roles", { realm_access: { roles: ["admin"] } }, "realm_access.roles", ["admin"]],
  [
    "a name with dots, as Auth0 needs them",
    { "https://example.com/groups": ["a"] },
    "https://example.com/groups",
    ["a"],
  ],
  ["no claim", { sub: "x" }, "groups", undefined],
  ["an object", { groups: { a: 1 } }, "groups", undefined],
  ["a name of every object", {}, "constructor.name", undefined],
] as const)("reads groups from %s", (_, claims, claim, groups) => {
  expect(groupsIn(claims, claim)).toEqual(groups);
});
