import { describe, expect, it } from "vitest";
import { mayAdminister, maySeeTeam, OPEN, seesAll, type Viewer } from "../../../../reports/access/viewer.ts";

const viewer: Viewer = { name: "grafana", role: "viewer", teams: ["vision", "nlp"] };
const finance: Viewer = { name: "finance", role: "finance", teams: "all" };
const administrator: Viewer = { name: "ops", role: "administrator", teams: "all" };

describe("the permission to see a report", () => {
  it.each([
    [viewer, ["vision", "nlp"], false, false],
    [finance, ["vision", "nlp", "platform", "unowned", ""], true, false],
    [administrator, ["vision", "nlp", "platform", "unowned", ""], true, true],
    [OPEN, ["vision", "nlp", "platform", "unowned", ""], true, true],
  ])("of $name depends on role and teams", (asking, teams, all, changes) => {
    const seen = ["vision", "nlp", "platform", "unowned", ""].filter((team) => maySeeTeam(asking, team));
    expect(seen).toEqual(teams);
    expect(seesAll(asking)).toBe(all);
    expect(mayAdminister(asking)).toBe(changes);
  });

  it("matches a team by its whole name alone", () => {
    for (const team of ["Vision", "vision ", "vis", "vision,nlp", "all", "*"])
      expect({ team, may: maySeeTeam(viewer, team) }).toEqual({ team, may: false });
    expect(maySeeTeam({ name: "all", role: "viewer", teams: ["all"] }, "vision")).toBe(false);
  });
});
