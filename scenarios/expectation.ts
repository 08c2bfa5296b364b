import { formatAmount, lastUnits, parseAmount, type Amount, type Quantity } from "../domain/exact/units.ts";
import { groupKey, groupLines, type Bill, type BillGroup, type BillLine } from "./bill.ts";
import type { Scenario } from "./schema.ts";

type ExpectedLine = NonNullable<Scenario["expect"][string]["lines"]>[number];

const AMOUNTS = new Set(["gpuHours", "cost"]);
const NOTHING = lastUnits<Quantity>(0n);

/**
 * What does not hold of a scenario's expectations, a sentence each; nothing where all of them hold. Amounts compare by value,
 * exactly. The dimensions of an expected list are all that any of its lines names: every line must be exactly one group of
 * them, and every group one line. What has no price counts as 0 here.
 */
export function differences(scenario: Scenario, bills: ReadonlyMap<string, Bill>): readonly string[] {
  return Object.entries(scenario.expect).flatMap(([policy, { total, lines, corrections }]) => {
    const bill = bills.get(policy);
    if (bill === undefined) return [`${policy}: there is no such bill`];
    const wrong: string[] = [];
    if (total !== undefined && !isAmount(total, bill.total))
      wrong.push(`${policy}: the total is ${formatAmount(bill.total)}, not ${total}`);
    if (lines !== undefined) wrong.push(...compareLines(policy, lines, bill.lines));
    if (corrections !== undefined)
      wrong.push(...compareLines(`${policy}, corrections`, corrections, bill.corrections ?? []));
    return wrong;
  });
}

function compareLines(where: string, expected: readonly ExpectedLine[], lines: readonly BillLine[]): readonly string[] {
  const names = [...new Set(expected.flatMap((line) => Object.keys(line)))].filter((name) => !AMOUNTS.has(name));
  const valuesOf = (dimensions: Readonly<Record<string, string | undefined>>): string =>
    groupKey(names.map((name) => dimensions[name] ?? ""));
  const groups = new Map(groupLines(lines, names).map((group) => [valuesOf(group.dimensions), group]));
  const wrong: string[] = [];
  for (const line of expected) {
    const key = valuesOf(line);
    wrong.push(...compareLine(`${where}: ${key}`, line, groups.get(key)));
    groups.delete(key);
  }
  for (const [key, { gpuHours, cost }] of groups)
    wrong.push(
      `${where}: ${key} is not expected: ${formatAmount(gpuHours)} GPU-hours, ${formatAmount(cost ?? NOTHING)}`,
    );
  return wrong;
}

function compareLine(what: string, line: ExpectedLine, group: BillGroup | undefined): readonly string[] {
  const [hours, cost] = [group?.gpuHours ?? NOTHING, group?.cost ?? NOTHING];
  const wrong: string[] = [];
  if (line.gpuHours !== undefined && !isAmount(line.gpuHours, hours))
    wrong.push(`${what} has ${formatAmount(hours)} GPU-hours, not ${line.gpuHours}`);
  if (line.cost !== undefined && !isAmount(line.cost, cost))
    wrong.push(`${what} costs ${formatAmount(cost)}, not ${line.cost}`);
  return group === undefined && wrong.length === 0 ? [`${what} is expected, and there is no such line`] : wrong;
}

/** Whether a text says an amount; one that is finer than the last unit says none. */
function isAmount(text: string, amount: Amount<Quantity>): boolean {
  const parsed = parseAmount<Quantity>(text);
  return "value" in parsed && parsed.value === amount;
}
