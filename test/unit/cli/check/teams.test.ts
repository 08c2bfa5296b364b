import { describe, expect, it } from "vitest";
import { teamsAlike } from "../../../../cli/check/teams.ts";

const NO_RULES = { owners: { team: [], costCenter: [], project: [], environment: [] } };
const answersOf = (charged: readonly string[], register?: readonly string[]): readonly string[] =>
  teamsAlike({ ...NO_RULES, register }, charged, "teams").map(({ answer }) => answer.split(",")[0]!);

describe("teams that look alike", () => {
  it.each(["pl\u0430tform", "p1atf0rm", "\u03C1latform", "PLATF\u041ERM", "plat\u200Bform"])(
    "are a finding: %j and platform",
    (name) => expect(answersOf([name])).toEqual([expect.stringContaining("can be read as platform")]),
  );

  it("are shown with the codes of letters that look like others", () => {
    expect(answersOf(["v\u0456sion", "Vision", "nlp"], ["vision"])).toEqual([
      "v\u0456sion (v U+456 sion) and Vision can be read as vision",
    ]);
  });

  it("are not found among names that differ", () => {
    expect(answersOf(["plutform", "platform-a", "platform", "unowned", "nlp"], ["nlp"])).toEqual([]);
  });
});
