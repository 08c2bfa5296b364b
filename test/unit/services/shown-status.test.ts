import { expect, it } from "vitest";
import type { ProcessorStatus } from "../../../services/role.ts";
import { shownStatus } from "../../../services/shown-status.ts";

const status = { rowsStored: 1, month: { month: "2026-03" } } as unknown as ProcessorStatus;

it.each([
  [true, "2026-03"],
  [false, undefined],
])("with moneyOnMetrics %s, the status has the costs of the month %s", (moneyOnMetrics, month) => {
  expect(shownStatus(status, { moneyOnMetrics }).month?.month).toBe(month);
  expect(shownStatus(status, { moneyOnMetrics }).rowsStored).toBe(1);
});
