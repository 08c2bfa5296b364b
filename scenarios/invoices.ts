import { z } from "zod";
import { EXPORT_LINE_KINDS } from "../domain/invoice/export-line.ts";
import type { SourceRules } from "../domain/invoice/rules.ts";
import { parseDecimal, type Rational } from "../domain/exact/rational.ts";
import { periodOf } from "../domain/period.ts";
import type { FileLine } from "../processors/ledger/invoiced/store-export.ts";
import { sourceRuleKeys } from "../runtime/config/invoices.ts";
import { currency } from "../runtime/config/ledger.ts";
import { name, time, word } from "./words.ts";

const AMOUNT = 'an amount as text, such as "5.40"';
const amount = z.string({ error: AMOUNT }).transform((written, context): Rational => {
  const parsed = parseDecimal(written);
  if ("value" in parsed) return parsed.value;
  context.addIssue({ code: "custom", message: `${AMOUNT}: ${parsed.error}` });
  return z.NEVER;
});

const line = z.strictObject({
  kind: word(...EXPORT_LINE_KINDS).default("machine"),
  machine: name.default(""),
  from: time.optional(),
  until: time.optional(),
  hours: amount.optional(),
  account: name.default("main"),
  region: name.default(""),
  instanceType: name.default(""),
  capacityType: word("on-demand", "spot", "reserved").optional(),
  commitment: name.default(""),
  reservation: name.default(""),
  currency: currency.optional(),
  effective: amount,
  list: amount.optional(),
  contracted: amount.optional(),
  billed: amount.optional(),
  invoice: name.default(""),
});

/** The lines of an export that a scenario has. */
export const exportLines = z.array(line, { error: "a list of lines" });

/** The export of a scenario's provider, and how its lines become costs. */
export const invoices = z.strictObject({ ...sourceRuleKeys, lines: exportLines.default([]) });

/** The written lines of a scenario's export. */
export type ScenarioLines = z.output<typeof exportLines>;

/** The name of the source of a scenario's exports. */
export const SCENARIO_SOURCE = "provider";

/** Returns how the lines of a scenario's export become costs. */
export function sourceOf({ share, bookings, rates }: z.output<typeof invoices>): SourceRules {
  return { name: SCENARIO_SOURCE, share, bookings, rates };
}

/** Returns lines of an export. By default a line is of the whole period, its list and contracted costs and what was billed are its cost. */
export function linesOf(
  written: ScenarioLines,
  {
    period,
    currency: own,
  }: { readonly period: { readonly start: number; readonly end: number }; readonly currency: string },
): readonly FileLine[] {
  return written.map(({ hours, effective, list, contracted, billed, ...rest }, index): FileLine => {
    const { from = period.start, until = period.end, capacityType = "on-demand" } = rest;
    const billing = periodOf(from);
    return {
      ...rest,
      file: "scenario",
      row: index + 1,
      cloud: "other",
      payer: "main",
      billingFrom: billing.from,
      billingUntil: billing.until,
      from,
      until,
      zone: "",
      capacityType,
      currency: rest.currency ?? own,
      machineHours: hours,
      costs: {
        effective,
        contracted: contracted ?? effective,
        list: list ?? contracted ?? effective,
        billed: billed ?? effective,
      },
      description: "",
    };
  });
}
