import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readScenario } from "../../../scenarios/read.ts";
import { differences } from "../../../scenarios/expectation.ts";
import { billScenario } from "../../support/reference/bill.ts";

const FOLDER = "test/scenarios";
const files = readdirSync(FOLDER).filter((file) => file.endsWith(".yaml"));
const scenarios = files.map((file) => readScenario(readFileSync(`${FOLDER}/${file}`, "utf8"), file));

it.each(scenarios.map((scenario, index) => [scenario.title, files[index]!, scenario] as const))(
  "%s (%s)",
  (_, __, scenario) => {
    expect(Object.keys(scenario.expect).length).toBeGreaterThan(0);
    expect(differences(scenario, billScenario(scenario))).toEqual([]);
  },
);

it("every case is in the table of rules", () => {
  const table = readFileSync(`${FOLDER}/README.md`, "utf8");
  const cases = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".yaml"));
  expect(cases.length).toBeGreaterThan(files.length);
  expect(cases.filter((file) => !table.includes(`\`${file.slice(0, -".yaml".length)}\``))).toEqual([]);
});

it("a failed expectation is reported line by line: a wrong amount, a line too many, a line too few", () => {
  const text = readFileSync(`${FOLDER}/by-usage.yaml`, "utf8")
    .replace('gpuHours: "0.6", cost: "0.60"', 'gpuHours: "0.7", cost: "0.61"')
    .replace("- { team: platform, pod: v-0, state: idle", "- { team: nobody, pod: v-0, state: idle");
  const scenario = readScenario(text, "wrong.yaml");
  expect(differences(scenario, billScenario(scenario))).toEqual([
    'default: ["vision","v-0","active"] has 0.6 GPU-hours, not 0.7',
    'default: ["vision","v-0","active"] costs 0.6, not 0.61',
    'by-usage: ["nobody","v-0","idle"] has 0 GPU-hours, not 1.4',
    'by-usage: ["nobody","v-0","idle"] costs 0, not 1.40',
    'by-usage: ["platform","v-0","idle"] is not expected: 1.4 GPU-hours, 1.4',
  ]);
});
