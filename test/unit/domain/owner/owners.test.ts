import { describe, expect, it } from "vitest";
import type { OwnerSubject } from "../../../../domain/owner/owner.ts";
import { ownersOf, teamOf } from "../../../../domain/owner/owners.ts";
import type { OwnerRow, OwnerRule } from "../../../../domain/owner/rule.ts";
import { ownerRules } from "../../../support/owner-rules.ts";

const MARCH = Date.UTC(2026, 2, 1);
const NOON = MARCH + 12 * 3_600_000;
const USUAL: readonly OwnerRule[] = [{ podLabel: "team" }, { ownerLabel: "team" }, { namespaceLabel: "team" }];

const marks = (labels: Record<string, string>, annotations: Record<string, string> = {}) => ({ labels, annotations });

function subject(given: Partial<OwnerSubject> = {}): OwnerSubject {
  const known = { namespace: "vision-train", workload: "resnet", queue: "research", pool: "h100" };
  return { ...known, pod: marks({}), owner: marks({}), namespaceMarks: undefined, ...given };
}

const row = (line: number, given: Partial<OwnerRow>): OwnerRow => ({
  line,
  kind: "namespace",
  match: "vision-train",
  values: { team: "vision" },
  ...given,
});

const team = (sources: readonly OwnerRule[], of: OwnerSubject): string =>
  teamOf(ownerRules({ team: sources }), of, MARCH).value;

describe("an owner", () => {
  it("comes from the first source with a value", () => {
    const both = subject({ pod: marks({ team: "vision" }), namespaceMarks: marks({ team: "lab" }) });
    expect(team(USUAL, both)).toBe("vision");
    expect(team(USUAL, { ...both, pod: marks({}) })).toBe("lab");
    expect(team(USUAL.toReversed(), both)).toBe("lab");
  });

  it("comes from the pod's own label or from that of its owner, each of which is a source of its own", () => {
    const both = subject({ pod: marks({ team: "spech" }), owner: marks({ team: "speech" }, { project: "p" }) });
    expect(team(USUAL, both)).toBe("spech");
    expect(team([{ ownerLabel: "team" }], both)).toBe("speech");
    expect(team([{ podLabel: "project" }], both)).toBe("unowned");
    expect(team([{ ownerLabel: "project" }], both)).toBe("p");
    const registered = ownerRules({ team: USUAL }, { register: ["speech"] });
    expect(teamOf(registered, both, MARCH)).toEqual({
      value: "speech",
      rule: "ownerLabel team",
      source: "ownerLabel team",
    });
  });

  it("can come from an annotation, if no label has the same name", () => {
    expect(team(USUAL, subject({ pod: marks({}, { team: "speech" }) }))).toBe("speech");
    expect(team(USUAL, subject({ pod: marks({ team: "vision" }, { team: "speech" }) }))).toBe("vision");
    expect(team([{ podAnnotation: "team" }], subject({ pod: marks({ team: "vision" }, { team: "speech" }) }))).toBe(
      "speech",
    );
  });

  it("is absent if no source has a value; an empty label and a property that every JavaScript object has do not count", () => {
    expect(team(USUAL, subject({ pod: marks({ team: "" }) }))).toBe("unowned");
    expect(team([], subject({ pod: marks({ team: "vision" }) }))).toBe("unowned");
    expect(team([{ podLabel: "constructor" }], subject())).toBe("unowned");
  });

  it.each<[OwnerRule, string]>([
    [{ namespace: "vision-train", value: "a" }, "a"],
    [{ namespace: "vision-*", value: "a" }, "a"],
    [{ namespace: "/vision-(train|lab)/", value: "a" }, "a"],
    [{ namespace: "/vision/", value: "a" }, "unowned"],
    [{ namespace: "vision", value: "a" }, "unowned"],
    [{ queue: "rese?rch", value: "a" }, "a"],
    [{ pool: "/h[0-9]+/", value: "a" }, "a"],
    [{ workload: "resnet", value: "a" }, "a"],
    [{ workload: "resnet-*", value: "a" }, "unowned"],
  ])("comes from %o: %s", (rule, expected) => {
    expect(team([rule], subject())).toBe(expected);
  });

  it("comes from no pattern if the name is unknown, even if the pattern matches everything", () => {
    expect(
      team(
        [
          { queue: "*", value: "a" },
          { pool: "/.*/", value: "b" },
        ],
        subject({ queue: "", pool: "" }),
      ),
    ).toBe("unowned");
  });

  it("comes with the rule's name and the value that the rule read, for each dimension", () => {
    const rules = ownerRules(
      {
        team: USUAL,
        costCenter: [{ namespaceLabel: "cost-center" }],
        project: [{ podLabel: "project" }, { queue: "res*", value: "basic-research" }],
      },
      { ownersFile: [row(7, { match: "vision-*", values: { costCenter: "CC-1" } })] },
    );
    const { owners, refused } = ownersOf(rules, subject({ pod: marks({ team: "vision" }) }), MARCH);
    expect(owners).toEqual({
      team: { value: "vision", rule: "podLabel team", source: "podLabel team" },
      costCenter: { value: "CC-1", rule: "ownersFile namespace vision-*", source: "namespace vision-*" },
      project: { value: "basic-research", rule: "queue res*", source: "queue res*" },
      environment: { value: "", rule: "", source: "" },
    });
    expect(refused).toEqual([]);
  });
});

describe("the name of a rule", () => {
  it("is the given one, or otherwise the value that the rule reads and the time from which the rule holds", () => {
    const nameOf = (rule: OwnerRule): string =>
      teamOf(ownerRules({ team: [rule] }), subject({ pod: marks({ team: "vision" }) }), MARCH).rule;
    const [from, until] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 6, 1)];
    expect(nameOf({ podLabel: "team" })).toBe("podLabel team");
    expect(nameOf({ podLabel: "team", name: "teams of pods" })).toBe("teams of pods");
    expect(nameOf({ namespace: "vision-*", value: "vision", from, until })).toBe(
      "namespace vision-* from 2026-01-01 until 2026-07-01",
    );
    expect(nameOf({ namespace: "vision-*", value: "vision", from, name: "the lab" })).toBe("the lab");
  });
});

describe("a reserved name", () => {
  it.each([
    ["platform", "itself"],
    ["unowned", "itself"],
    ["Platform", "in another case"],
    [" UNOWNED\u00a0", "with spaces around it"],
    ["\uff50\uff4c\uff41\uff54\uff46\uff4f\uff52\uff4d", "full-width"],
    ["plat\u200bform", "with a space of no width"],
    ["plat\u00adform", "with a soft hyphen"],
    ["un\u2060owned\ufe0f", "with a joiner and a variation selector"],
    ["\u202eunowned\u202c", "with directions of text"],
    ["\u3164", "as a filler, which nobody sees"],
  ])("cannot be chosen as a team by a label: %j, %s", (name) => {
    const rules = ownerRules({ team: USUAL });
    const claim = subject({ pod: marks({ team: name }), namespaceMarks: marks({ team: "vision" }) });
    const { owners, refused } = ownersOf(rules, claim, MARCH);
    expect(owners.team.value).toBe("vision");
    expect(refused).toEqual([{ dimension: "team", value: name, rule: "podLabel team", source: "podLabel team" }]);
    const { owners: alone } = ownersOf(rules, subject({ pod: marks({ team: name }) }), MARCH);
    expect(alone.team).toEqual({ value: "unowned", rule: "", source: "" });
  });
});

describe("a name that people read as a reserved one", () => {
  const rows = [row(2, { values: { team: "UnOwned" } })];
  it.each<[string, OwnerRule[], Parameters<typeof ownerRules>[1], string]>([
    ["is in the register", USUAL as OwnerRule[], { register: ["Platform"] }, "Platform"],
    ["is the value of a rule", [{ namespace: "x", value: "Platform" }, ...USUAL], {}, "Platform"],
    ["is in finance's file", USUAL as OwnerRule[], { ownersFile: rows }, "UnOwned"],
    ["has charges of an earlier release", USUAL as OwnerRule[], { chargedTeams: ["Platform", "vision"] }, "Platform"],
  ])("counts if it %s, and no other spelling of it does", (_, sources, others, name) => {
    const rules = ownerRules({ team: sources }, others);
    const teamOfLabel = (value: string) =>
      teamOf(rules, subject({ namespace: "", pod: marks({ team: value }) }), MARCH).value;
    expect(teamOfLabel(name)).toBe(name);
    expect(teamOfLabel(name.toUpperCase())).toBe("unowned");
    expect(teamOfLabel(name.toLowerCase())).toBe("unowned");
  });

  it("never makes the exact names those of a team", () => {
    const rules = ownerRules({ team: USUAL }, { chargedTeams: ["platform", "unowned"] });
    expect(teamOf(rules, subject({ pod: marks({ team: "platform" }) }), MARCH).value).toBe("unowned");
  });
});

describe("a register of teams", () => {
  it("refuses an unknown team with its place, and the next source is used", () => {
    const rules = ownerRules({ team: USUAL, project: [{ podLabel: "team" }] }, { register: ["vision", "nlp"] });
    const typo = subject({ pod: marks({ team: "visoin" }), namespaceMarks: marks({ team: "vision" }) });
    const { owners, refused } = ownersOf(rules, typo, MARCH);
    expect(owners.team).toEqual({ value: "vision", rule: "namespaceLabel team", source: "namespaceLabel team" });
    expect(refused).toEqual([{ dimension: "team", value: "visoin", rule: "podLabel team", source: "podLabel team" }]);
    // The register is for teams: other dimensions accept any value.
    expect(owners.project.value).toBe("visoin");
  });

  it("leaves the owner empty if it refuses every value", () => {
    const rules = ownerRules({ team: USUAL }, { register: ["nlp"] });
    expect(teamOf(rules, subject({ pod: marks({ team: "vision" }) }), MARCH).value).toBe("unowned");
  });
});

describe("finance's file", () => {
  const labeled = subject({ pod: marks({ team: "from-label" }) });
  const answer = (rows: readonly OwnerRow[], of = subject()) =>
    teamOf(ownerRules({ team: USUAL }, { ownersFile: rows }), of, MARCH);

  it("is used before the labels, or at its place in the list", () => {
    const ownersFile = [row(2, {})];
    expect(teamOf(ownerRules({ team: USUAL }, { ownersFile }), labeled, MARCH).value).toBe("vision");
    const last = ownerRules({ team: [...USUAL, { ownersFile: true }] }, { ownersFile });
    expect(teamOf(last, labeled, MARCH).value).toBe("from-label");
    expect(teamOf(last, subject(), MARCH).value).toBe("vision");
  });

  it("uses the row with the most specific match, in any order of the rows", () => {
    const rows = [
      row(2, { match: "*", values: { team: "rest" } }),
      row(3, { match: "/vision-.*/", values: { team: "expression" } }),
      row(4, { match: "vision-*", values: { team: "long glob" } }),
      row(5, { match: "vision-train", values: { team: "name" } }),
      row(6, { kind: "pool", match: "h100", values: { team: "pool" } }),
      row(7, { kind: "queue", match: "research", values: { team: "queue" } }),
      row(8, { kind: "workload", match: "resnet", values: { team: "workload" } }),
    ];
    for (const order of [rows, rows.toReversed()]) {
      expect(answer(order)).toEqual({
        value: "workload",
        rule: "ownersFile workload resnet",
        source: "workload resnet",
      });
      expect(answer(order, subject({ workload: "x" })).value).toBe("queue");
      expect(answer(order, subject({ workload: "x", queue: "" })).value).toBe("name");
      expect(answer(order, subject({ workload: "x", queue: "", namespace: "vision-lab" })).value).toBe("long glob");
      expect(answer(order, subject({ workload: "x", queue: "", namespace: "nlp" })).value).toBe("rest");
      expect(answer(order, subject({ workload: "x", queue: "", namespace: "" })).value).toBe("pool");
    }
  });

  it("gives the dimensions that a row has, and leaves the others to the next source", () => {
    const rules = ownerRules(
      { team: USUAL, costCenter: [] },
      {
        ownersFile: [
          row(2, { values: { costCenter: "CC-1" } }),
          row(3, { match: "vision-*", values: { team: "vision", costCenter: "CC-2" } }),
        ],
      },
    );
    const { owners } = ownersOf(rules, subject(), MARCH);
    expect([owners.team.value, owners.costCenter.value]).toEqual(["vision", "CC-1"]);
  });
});

describe("a dated rule", () => {
  const rules = ownerRules(
    {
      team: [
        { namespace: "vision-*", value: "nlp", until: NOON },
        { namespace: "vision-*", value: "speech", from: NOON },
      ],
    },
    { ownersFile: [row(2, { kind: "pool", match: "spare", from: MARCH, until: NOON + 1 })] },
  );

  it("holds from its beginning up to its end, exclusive", () => {
    expect(teamOf(rules, subject(), NOON - 1).value).toBe("nlp");
    expect(teamOf(rules, subject(), NOON).value).toBe("speech");
  });

  it("adds its beginning and end to the moments at which rules change, each moment once", () => {
    expect(rules.changes).toEqual([MARCH, NOON, NOON + 1]);
    expect(ownerRules({ team: USUAL }).changes).toEqual([]);
  });
});
