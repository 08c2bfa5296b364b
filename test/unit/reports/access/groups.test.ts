import { expect, it } from "vitest";
import { createGroupAccess } from "../../../../reports/access/groups.ts";

const APRIL = Date.UTC(2026, 3, 1);
const access = createGroupAccess([
  { group: "/gpu-ledger/vision", role: "viewer", teams: ["vision"] },
  { group: "ml-*", role: "viewer", teams: ["nlp", "vision"], until: APRIL },
  { group: "/fin-(eu|us)/", role: "finance", teams: [], from: APRIL },
  { group: "admins", role: "administrator", teams: [] },
]);
const seen = (groups: readonly string[], at = APRIL - 1) =>
  access.viewerOf({ name: "ann", subject: "u-ann", groups }, at);

it("gives a person the teams of all rules that fit, and the highest role", () => {
  expect(seen(["/gpu-ledger/vision", "ml-research"])).toEqual({
    name: "ann",
    subject: "u-ann",
    role: "viewer",
    teams: ["vision", "nlp"],
  });
  expect(seen(["/gpu-ledger/vision", "admins"])).toEqual({
    name: "ann",
    subject: "u-ann",
    role: "administrator",
    teams: "all",
  });
});

it("gives what a rule gives from its start to before its end", () => {
  expect(seen(["ml-research"], APRIL - 1)).toMatchObject({ teams: ["nlp", "vision"] });
  expect(seen(["ml-research"], APRIL)).toBeUndefined();
  expect(seen(["fin-eu"], APRIL - 1)).toBeUndefined();
  expect(seen(["fin-eu"], APRIL)).toMatchObject({ role: "finance", teams: "all" });
});

it("gives nothing without a group that fits: names fit as a whole, with their case", () => {
  for (const group of ["", "vision", "/gpu-ledger/vision/", "/GPU-LEDGER/VISION", "xml-a", "fin-eu2", "__proto__"])
    expect(seen([group], APRIL)).toBeUndefined();
  expect(["ml-x", "fin-us", "other"].map(access.isKnown)).toEqual([true, true, false]);
});
