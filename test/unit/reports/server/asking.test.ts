import { expect, it } from "vitest";
import { OPEN, type Viewer } from "../../../../reports/access/viewer.ts";
import { callerOf, detailsOf } from "../../../../reports/server/asking.ts";

const ip = "10.0.0.7";
const TOKEN: Viewer = { name: "grafana", role: "viewer", teams: ["vision"] };

it("a person with the name of a token, or of another person, is another caller", () => {
  const people = ["u-1", "u-2"].map((subject) => ({ ...TOKEN, subject }));
  const callers = [TOKEN, ...people].map((viewer) => callerOf({ viewer, ip }));
  expect(callers).toEqual(["grafana", "person u-1", "person u-2"]);
  expect(callerOf({ viewer: OPEN, ip })).toBe(ip);
});

it("the audit trail has the subject of a person beside the name", () => {
  expect(detailsOf({ viewer: { ...TOKEN, subject: "u-1" }, ip })).toEqual({ address: ip, person: "u-1" });
  expect(detailsOf({ viewer: TOKEN, ip })).toEqual({ address: ip });
});
