import { describe, expect, it } from "vitest";
import { compileOwners } from "../../../../domain/owner/compile.ts";
import type { OwnerConfig, OwnerRow, OwnerRule } from "../../../../domain/owner/rule.ts";

const MARCH = Date.UTC(2026, 2, 1);

/** The problems of the rules of teams and a file, as `path: allowed values`. */
function wrongWith(team: readonly OwnerRule[], others: Omit<OwnerConfig, "owners"> = {}): readonly string[] {
  const compiled = compileOwners({ owners: { team, costCenter: [], project: [], environment: [] }, ...others });
  return "rules" in compiled ? [] : compiled.problems.map(({ path, allowed }) => `${path.join(".")}: ${allowed}`);
}

const wrongWithFile = (...rows: readonly Partial<OwnerRow>[]): readonly string[] =>
  wrongWith([], {
    ownersFile: rows.map((given, index) => ({
      line: index + 2,
      kind: "namespace",
      match: "vision",
      values: { team: `team-${index}` },
      ...given,
    })),
  });

describe("rules of one list", () => {
  it("contradict each other if they match the same pods at the same time and name different owners", () => {
    expect(
      wrongWith([{ namespace: "lab", value: "nlp" }, { podLabel: "team" }, { namespace: "lab", value: "speech" }]),
    ).toEqual([
      `owners.team.2: a rule that agrees with owners.team[0]: for namespace lab that gives "nlp" at the same time, and this one "speech"`,
    ]);
  });

  it.each<[string, OwnerRule]>([
    ["give the same value", { namespace: "lab", value: "nlp" }],
    ["hold at different times", { namespace: "lab", value: "speech", from: MARCH }],
    ["have different patterns, so that their order decides", { namespace: "l*", value: "speech" }],
    ["are of different kinds", { queue: "lab", value: "speech" }],
  ])("do not contradict each other if they %s", (_, rule) => {
    expect(wrongWith([{ namespace: "lab", value: "nlp", until: MARCH }, rule])).toEqual([]);
  });
});

describe("a team", () => {
  it.each(["platform", "unowned"])("must not be named %s, in a rule, a row or the register", (name) => {
    const allowed = "a team that is called neither platform nor unowned";
    expect(wrongWith([{ pool: "a", value: name }], { register: ["vision", name] })).toEqual([
      `register.1: ${allowed}`,
      `owners.team.0.value: ${allowed}`,
    ]);
    expect(wrongWithFile({ values: { team: name } })).toEqual([
      `ownersFile: a file of owners: in line 2, the team is ${name}, not ${allowed}`,
    ]);
  });
});

describe("rows of finance's file", () => {
  it("contradict each other if only their order decides", () => {
    expect(wrongWithFile({}, {})).toEqual([
      `ownersFile: a file whose rows agree: for namespace vision, line 2 gives team "team-0" and line 3 "team-1" at the same time`,
    ]);
    expect(wrongWithFile({ match: "/a+/" }, { match: "/a+/" })).toHaveLength(1);
  });

  it("contradict each other if two globs of the same length can match the same name", () => {
    expect(wrongWithFile({ match: "vision-*" }, { match: "*-notebk" })).toEqual([
      expect.stringContaining("for namespace vision-* and *-notebk, line 2 gives team"),
    ]);
    expect(wrongWithFile({ match: "vision-*" }, { match: "speech-*" })).toEqual([]);
  });

  it.each<[string, Partial<OwnerRow>]>([
    ["give the same value", { values: { team: "team-0" } }],
    ["give values of different dimensions", { values: { costCenter: "CC-1" } }],
    ["are of different kinds", { kind: "queue" }],
    ["are of different lengths, so that the longer one wins", { match: "vision*" }],
    ["hold at different times", { from: MARCH }],
  ])("do not contradict each other if they %s", (_, second) => {
    expect(wrongWithFile({ until: MARCH }, second)).toEqual([]);
  });
});

describe("a pattern", () => {
  it.each([
    ["/(/", "a valid regular expression"],
    ["/(a+)+/", "it repeats a group"],
    ["/(a|b){3}/", "it repeats a group"],
    ["/(.)\\1/", "it refers back to a group"],
    ["/.*.*.*.*/", "it has more than 3 of *, +, ? and {n,m}"],
    ["/a?a?a?a?/", "it has more than 3"],
    [`/${"(a|a)".repeat(21)}/`, "it has more than 20 bars"],
    [`/${"a".repeat(201)}/`, "it is longer than 200 characters"],
    ["", "a name, a glob such as vision-*"],
  ])("%s is refused, with the key that has it", (pattern, sentence) => {
    expect(wrongWith([{ podLabel: "team" }, { queue: pattern, value: "a" }])).toEqual([
      expect.stringMatching(/^owners\.team\.1\.queue: /),
    ]);
    expect(wrongWith([{ queue: pattern, value: "a" }])[0]).toContain(sentence);
    expect(wrongWithFile({ match: pattern })[0]).toContain(`in line 2, match is ${JSON.stringify(pattern)}`);
  });

  it.each(["/nlp-.+/", "/(?:vision|nlp)-[a-z+*]+\\.x/", "/a\\+\\+\\+\\+/", "/(?<team>a)b?/"])(
    "%s is accepted",
    (pattern) => {
      expect(wrongWith([{ queue: pattern, value: "a" }])).toEqual([]);
    },
  );
});
