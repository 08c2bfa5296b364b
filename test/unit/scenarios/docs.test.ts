import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHARGE_DIMENSIONS } from "../../../domain/charge/dimension.ts";
import { dimensionsMarkdown } from "../../../domain/charge/dimensions-page.ts";
import { unplayable } from "../../../scenarios/play/unplayable.ts";
import { readScenario } from "../../../scenarios/read.ts";
import { differences } from "../../../scenarios/expectation.ts";
import { billScenario } from "../../support/reference/bill.ts";

const text = readFileSync("docs/scenarios.md", "utf8");
const examples = [...text.matchAll(/^```yaml\n(title:[^]*?)^```$/gm)].map(([, example]) => example!);

describe("the manual of scenarios", () => {
  it("has an example that can be played, and its expectations hold", () => {
    expect(examples).toHaveLength(1);
    const scenario = readScenario(examples[0]!, "docs/scenarios.md");
    expect(unplayable(scenario)).toEqual([]);
    expect(Object.keys(scenario.expect)).toEqual(["default", "by-usage"]);
    expect(differences(scenario, billScenario(scenario))).toEqual([]);
  });

  it("has every dimension, as `npm run generate` writes them", () => {
    const list = dimensionsMarkdown();
    expect(text).toContain(list);
    expect(CHARGE_DIMENSIONS.filter((name) => !list.includes(`\`${name}\``))).toEqual([]);
  });
});
