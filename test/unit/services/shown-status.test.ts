import { expect, it } from "vitest";
import type { ProcessorStatus } from "../../../services/role.ts";
import { shownStatus } from "../../../services/shown-status.ts";

const status = { rowsStored: 1, month: { month: "2026-03" } } as unknown as ProcessorStatus;

it.each([
  [{ moneyOnMetrics: true, metricsToken: undefined }, "2026-03"],
  [{ moneyOnMetrics: false, metricsToken: undefined }, undefined],
  [{ moneyOnMetrics: true, metricsToken: "a token" }, undefined],
])("With %o the public status has the month: %s", (server, month) => {
  expect(shownStatus(status, server).month?.month).toBe(month);
  expect(shownStatus(status, server).rowsStored).toBe(1);
});
