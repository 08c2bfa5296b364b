import { periodOf, readPeriod, type BillingPeriod } from "../../domain/period.ts";
import type { InvoiceLine } from "../../domain/charge/invoice.ts";
import { readCharges } from "../../processors/ledger/charging/read-charges.ts";
import type { BookedCharge } from "../../runtime/store/schema/charges.ts";
import { CloseError } from "../../processors/ledger/closing/close-error.ts";
import { closePeriod } from "../../processors/ledger/closing/close.ts";
import { ledgerRules, type LedgerRules } from "../../processors/ledger/charging/rules.ts";
import { readServingLines } from "../../processors/ledger/serving/book-lines.ts";
import { storeExport } from "../../processors/ledger/invoiced/store-export.ts";
import { settle } from "../../processors/ledger/term/settle.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Bill } from "../../scenarios/bill.ts";
import { billOf } from "../../scenarios/lines.ts";
import type { PlayedMessage } from "../../scenarios/play/message.ts";
import { clustersOf } from "../../scenarios/play/tenure.ts";
import { linesOf, SCENARIO_SOURCE, type ScenarioLines } from "../../scenarios/invoices.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { lateMessages, stagesOf } from "../../scenarios/stages.ts";
import { CommandError } from "../context.ts";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";

/** The day of the next month from which a period of a scenario can be closed: the configuration's default. */
const CLOSING_DAY = 3;

/**
 * Keeps the books of a scenario whose messages are stored. Every hour is metered and charged. Then the events of the books happen, each at
 * its time: periods are closed with the invoices so far, and late messages are sent and settled. Returns the bill of each policy. Fails
 * with a {@link CommandError} if a period cannot be closed or sums are not exact.
 */
export async function keepBooks(
  store: StoreClient,
  scenario: Scenario,
  send: (messages: Iterable<PlayedMessage>) => Promise<void>,
): Promise<ReadonlyMap<string, Bill>> {
  let known = scenario;
  let generation = 0;
  let invoice: readonly InvoiceLine[] = [];
  const settleUntil = async (now: number): Promise<void> => {
    const settled = await settle(store, windowsOf(known, now), rulesFor(known), { generation, now });
    ({ generation } = settled);
    const [breach] = settled.breaches;
    if (breach !== undefined)
      throw new CommandError(
        `${breach.policy}: the charges of GPU ${breach.slot} of ${breach.node} do not sum to its cost`,
      );
  };
  const put = async (lines: ScenarioLines, readAt: number): Promise<void> => {
    const version = { source: SCENARIO_SOURCE, name: "export", content: "", readBy: "scenario", readAt, isWhole: true };
    const counts = () => ({ rows: lines.length, dropped: {} });
    await storeExport(store, version, [linesOf(lines, scenario)], counts);
  };
  const { invoices } = scenario;
  if (invoices !== undefined && invoices.lines.length > 0) await put(invoices.lines, scenario.period.start);
  const stages = stagesOf(scenario);
  for (const [index, { at, event, scenario: next }] of stages.entries()) {
    if ("invoice" in event)
      invoice = [...invoice, { key: `events[${scenario.events.indexOf(event)}].invoice`, ...event.invoice }];
    if ("arrives" in event) await send(lateMessages(known, next, index + 1));
    if ("export" in event) await put(event.export, at);
    known = next;
    if ("close" in event) {
      await settleUntil(at);
      await close(store, known, { period: readPeriod(event.close)!, invoice, at });
      invoice = [];
    }
  }
  await settleUntil(Math.max(scenario.period.end, ...stages.map(({ at }) => at)));
  return billsOf(store, known);
}

async function close(
  store: StoreClient,
  scenario: Scenario,
  of: { readonly period: BillingPeriod; readonly invoice: readonly InvoiceLine[]; readonly at: number },
): Promise<void> {
  const { period, invoice, at } = of;
  const rules = rulesFor(scenario);
  const [billing, ...others] = rules.charge.policies;
  const setting = {
    rules,
    policies: [billing!, ...others] as const,
    closingDay: CLOSING_DAY,
    priceBookHash: "",
    accounts: undefined,
  };
  try {
    await closePeriod(store, { period, invoice, by: "scenario", why: scenario.title, isDryRun: false }, setting, at);
  } catch (error) {
    if (error instanceof CloseError) throw new CommandError(error.message);
    throw error;
  }
}

function rulesFor(scenario: Scenario): LedgerRules {
  const { prices, namespaces, owners } = scenario;
  return ledgerRules(rulesOf(scenario), JSON.stringify([prices, namespaces, owners]));
}

/** Returns the hours of a scenario's period that have begun by a time. */
function windowsOf(scenario: Scenario, now: number): readonly { cluster: string; windowStart: number }[] {
  const { period } = scenario;
  const hours = Math.ceil((Math.min(period.end, now) - hourOf(period.start)) / HOUR_MILLIS);
  return clustersOf(scenario).flatMap((cluster) =>
    Array.from({ length: Math.max(0, hours) }, (_, hour) => ({
      cluster,
      windowStart: hourOf(period.start) + hour * HOUR_MILLIS,
    })),
  );
}

/** Returns the bills of a scenario, month by month. Costs that a policy spreads over a period are spread over each month. */
async function billsOf(store: StoreClient, scenario: Scenario): Promise<ReadonlyMap<string, Bill>> {
  const { start, end } = scenario.period;
  const hours = { from: hourOf(start), until: end };
  const bills = new Map<string, Bill>();
  for (const policy of rulesOf(scenario).policies) {
    const charges: BookedCharge[] = [];
    for (let month = periodOf(start); month.from < end; month = periodOf(month.until))
      for (const charge of await readCharges(store, policy, month)) charges.push(charge);
    const served = scenario.engines.length === 0 ? [] : await readServingLines(store, policy.name, hours);
    bills.set(policy.name, billOf(charges, served));
  }
  return bills;
}
