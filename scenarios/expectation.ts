import { formatAmount, lastUnits, parseAmount, type Amount, type Quantity } from "../domain/exact/units.ts";
import { groupLines, type Bill, type BillGroup } from "./bill.ts";
import { groupKey, type Dimensions } from "./dimensions.ts";
import { siteKWh } from "./energy.ts";
import type { Scenario } from "./files.ts";
import { groupServed, SERVED_AMOUNTS, type ServedGroup } from "./served.ts";

type ExpectedLine = Readonly<Record<string, string | undefined>>;

const NOTHING = lastUnits<Quantity>(0n);

/** The compared amounts of a list's lines, by name: the amount of a group, and the words for messages. */
type Amounts<Group> = Readonly<
  Record<string, { of(group: Group): Amount<Quantity> | undefined; readonly verb: string; readonly unit: string }>
>;

const COSTS: Amounts<BillGroup> = {
  gpuHours: { of: ({ gpuHours }) => gpuHours, verb: "has", unit: " GPU-hours" },
  cost: { of: ({ cost }) => cost, verb: "costs", unit: "" },
};

const SERVED: Amounts<ServedGroup> = Object.fromEntries(
  SERVED_AMOUNTS.map((name) => [
    name,
    { of: ({ amounts }: ServedGroup) => amounts[name], verb: "has", unit: ` of ${name}` },
  ]),
);

function energyAmounts(energy: Scenario["energy"]): Amounts<BillGroup> {
  return {
    kWh: {
      of: ({ millijoules }) => (millijoules === undefined ? undefined : siteKWh(millijoules, energy)),
      verb: "used",
      unit: " kWh",
    },
    grams: { of: ({ carbon }) => carbon, verb: "emitted", unit: " g" },
  };
}

/**
 * Returns the unmet expectations of a scenario, a sentence each. Amounts are compared exactly by value. The dimensions of an expected list
 * are all dimensions that its lines name. Every line must be exactly one group of them, and every group one line. For energy, the groups
 * are those with measured energy. Unpriced lines and unknown carbon count as 0 here.
 */
export function differences(scenario: Scenario, bills: ReadonlyMap<string, Bill>): readonly string[] {
  return Object.entries(scenario.expect).flatMap(([policy, { total, lines, corrections, energy, serving }]) => {
    const bill = bills.get(policy);
    if (bill === undefined) return [`${policy}: there is no such bill`];
    const wrong: string[] = [];
    if (total !== undefined && !isAmount(total, bill.total))
      wrong.push(`${policy}: the total is ${formatAmount(bill.total)}, not ${total}`);
    if (lines !== undefined) wrong.push(...compareLines(policy, lines, (by) => groupLines(bill.lines, by), COSTS));
    if (corrections !== undefined)
      wrong.push(
        ...compareLines(`${policy}, corrections`, corrections, (by) => groupLines(bill.corrections ?? [], by), COSTS),
      );
    for (const [rule, expected] of Object.entries(serving ?? {})) {
      const served = (bill.served ?? []).filter((line) => line.rule === rule);
      wrong.push(...compareLines(`${policy}, ${rule}`, expected, (by) => groupServed(served, by), SERVED));
    }
    if (energy !== undefined) {
      const measured = bill.lines.filter(({ millijoules }) => millijoules !== undefined);
      wrong.push(
        ...compareLines(`${policy}, energy`, energy, (by) => groupLines(measured, by), energyAmounts(scenario.energy)),
      );
    }
    return wrong;
  });
}

function compareLines<Group extends { readonly dimensions: Dimensions }>(
  where: string,
  expected: readonly ExpectedLine[],
  groupsBy: (names: readonly string[]) => readonly Group[],
  amounts: Amounts<Group>,
): readonly string[] {
  const names = [...new Set(expected.flatMap((line) => Object.keys(line)))].filter((name) => !(name in amounts));
  const valuesOf = (dimensions: Readonly<Record<string, string | undefined>>): string =>
    groupKey(names.map((name) => dimensions[name] ?? ""));
  const groups = new Map(groupsBy(names).map((group) => [valuesOf(group.dimensions), group]));
  const wrong: string[] = [];
  for (const line of expected) {
    const key = valuesOf(line);
    wrong.push(...compareLine(`${where}: ${key}`, line, groups.get(key), amounts));
    groups.delete(key);
  }
  for (const [key, group] of groups) {
    const found = Object.values(amounts).map(({ of, unit }) => `${formatAmount(of(group) ?? NOTHING)}${unit}`);
    wrong.push(`${where}: ${key} is not expected: ${found.join(", ")}`);
  }
  return wrong;
}

function compareLine<Group>(
  what: string,
  line: ExpectedLine,
  group: Group | undefined,
  amounts: Amounts<Group>,
): readonly string[] {
  const wrong = Object.entries(amounts).flatMap(([name, { of, verb, unit }]) => {
    const expected = line[name];
    const found = (group === undefined ? undefined : of(group)) ?? NOTHING;
    return expected === undefined || isAmount(expected, found)
      ? []
      : [`${what} ${verb} ${formatAmount(found)}${unit}, not ${expected}`];
  });
  return group === undefined && wrong.length === 0 ? [`${what} is expected, and there is no such line`] : wrong;
}

/** Returns true if a text equals an amount. A text with more digits than the last unit is never equal. */
function isAmount(text: string, amount: Amount<Quantity>): boolean {
  const parsed = parseAmount<Quantity>(text);
  return "value" in parsed && parsed.value === amount;
}
