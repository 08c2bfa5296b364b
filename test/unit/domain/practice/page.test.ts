import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHECKS } from "../../../../domain/practice/checks.ts";
import { DRIVER_BRANCHES, branchOf } from "../../../../domain/practice/driver-branches.ts";
import { whyAddress } from "../../../../domain/practice/page.ts";
import { SERVER_METRICS } from "../../../../runtime/telemetry/server-metrics.ts";

const page = readFileSync("docs/practices.md", "utf8");

describe("docs/practices.md, which `npm run generate` writes", () => {
  it("has a section for each check with its texts, at the address of its findings", () => {
    for (const { name, severity, what, why, amount } of CHECKS) {
      const [, anchor] = whyAddress(name).split("docs/practices.md#");
      const [, section = ""] = page.split(`\n### ${anchor}\n`);
      const reason = amount === undefined ? why : `${why} The money at stake is ${amount}.`;
      for (const text of [`**${severity}**: ${what}`, reason]) expect(section).toContain(text);
    }
    expect(page.match(/^### /gm)).toHaveLength(CHECKS.length);
  });

  it("names the metrics, and each driver branch with the source of its date", () => {
    expect(page).toContain(SERVER_METRICS.practiceFindings.name);
    expect(page).toContain(SERVER_METRICS.practiceCost.name);
    for (const { branch, endOfLife, source } of DRIVER_BRANCHES)
      expect(page).toMatch(new RegExp(`\\| ${branch} +\\| ${endOfLife} +\\| <${source.replaceAll(".", "\\.")}>`));
  });
});

it.each([
  ["535.183.01", 535],
  ["580", 580],
  ["6.12.12", undefined],
  ["", undefined],
  ["r535", undefined],
])("the branch of the driver %j is %j", (version, branch) => {
  expect(branchOf(version)).toBe(branch);
});
