import pino from "pino";
import { expect } from "vitest";
import type { BillingPeriod } from "../../domain/period.ts";
import { readPeriod } from "../../domain/period.ts";
import {
  closePeriod,
  type CloseReport,
  type CloseRequest,
  type CloseSetting,
} from "../../processors/ledger/closing/close.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { settle, type Settled } from "../../processors/ledger/term/settle.ts";
import { REPORT_KINDS } from "../../reports/question/question.ts";
import { readReport } from "../../reports/report/read-report.ts";
import { createSums } from "../../reports/sums/sums.ts";
import type { ChooseTable } from "../../reports/sums/tables.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { storeScenario } from "./play.ts";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";

/** The books of a scenario's fleet in a store, charged by the code of a leader and closed by the code of `close`. */
export interface Books {
  readonly store: StoreClient;
  /** Charges by this scenario from now on; it must have the same fleet. */
  use(scenario: Scenario): void;
  readonly setting: CloseSetting;
  /** Stores the messages that the collectors would have sent about a fleet. */
  arrive(scenario: Scenario, without?: string): Promise<void>;
  /** Meters and charges, or corrects, all hours of the fleet at a time. */
  settle(now: number): Promise<Settled>;
  close(period: string, now: number, request?: Partial<CloseRequest>): Promise<CloseReport>;
}

/** Books without any data. */
export function openBooks(store: StoreClient, scenario: Scenario): Books {
  let used = scenario;
  let generation = 0;
  const settingOf = (): CloseSetting => {
    const charge = rulesOf(used);
    const { prices, rates, markup, owners, policies, register } = used;
    const rules = ledgerRules(
      charge,
      JSON.stringify([prices, rates, markup, owners, register]),
      JSON.stringify(policies),
    );
    const [billing, ...others] = charge.policies;
    return {
      rules,
      closingDay: 3,
      policies: [billing!, ...others],
      priceBookHash: JSON.stringify(prices),
      accounts: undefined,
    };
  };
  return {
    store,
    use: (other) => (used = other),
    get setting() {
      return settingOf();
    },
    arrive: (other, without) => storeScenario(store, other, without),
    async settle(now) {
      const { start, end } = used.period;
      const clusters = [...new Set(used.nodes.map(({ cluster }) => cluster))];
      const windows = clusters.flatMap((cluster) =>
        Array.from({ length: Math.ceil((end - hourOf(start)) / HOUR_MILLIS) }, (_, hour) => ({
          cluster,
          windowStart: hourOf(start) + hour * HOUR_MILLIS,
        })),
      );
      const settled = await settle(store, windows, settingOf().rules, { generation, now });
      ({ generation } = settled);
      return settled;
    },
    async close(period, now, request = {}) {
      const asked = { period: periodNamed(period), by: "finance", why: "the month is over", invoice: [] };
      const report = await closePeriod(store, { ...asked, isDryRun: false, ...request }, settingOf(), now);
      await expectSumsOfLines(store, asked.period, { policies: settingOf().policies, now });
      return report;
    },
  };
}

/** Reports read sums. After a closing, the sums must equal those of the lines. */
async function expectSumsOfLines(
  store: StoreClient,
  span: BillingPeriod,
  { policies, now }: { readonly policies: readonly { readonly name: string }[]; readonly now: number },
): Promise<void> {
  const sums = createSums(store, { logger: pino({ level: "silent" }), now: () => now });
  const tables = new Set<string>();
  // The sums first come from sums of hours, and after these are added up, from sums of days.
  for (const ledgerVersion of ["hours", "days"]) {
    const chooseTable: ChooseTable = async (...asked) => {
      const table = await sums.at(ledgerVersion)(...asked);
      tables.add(table.name);
      return table;
    };
    for (const { name: policy } of policies) {
      for (const kind of REPORT_KINDS) {
        const question = { policy, kind, span, where: [], by: ["team", "workload", "because", "billingPeriod"] };
        const ofSums = await readReport(store, question, { currency: "USD" }, { chooseTable });
        expect(ofSums).toEqual(await readReport(store, question, { currency: "USD" }));
      }
    }
    await sums.made();
  }
  expect([...tables]).toEqual(["charge_workload_sums"]);
  await expectViewsOfLines(store);
}

/** Expects the views of sums to equal the sums of the lines for each hour, whether the hour has stored sums or not. */
export async function expectViewsOfLines(store: StoreClient): Promise<void> {
  for (const view of ["charges_summed", "workload_charges_summed"]) {
    const columns = await store.query<{ readonly name: string }>(
      "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {view:String}",
      { view },
    );
    const keys = columns.map(({ name }) => name).filter((name) => !SUMMED.includes(name));
    expect(keys.length).toBeGreaterThan(25);
    const sums = SUMMED.slice(1).map((name) => `toString(sum(${name})) AS ${name}`);
    const grouped = (lines: string, from: string): string =>
      `SELECT ${keys.join(", ")}, toString(${lines}) AS lines, ${sums.join(", ")} FROM (${from}) GROUP BY ALL`;
    const ofView = grouped("sum(lines)", `SELECT * FROM ${view}`);
    const ofLines = grouped(
      "count()",
      `SELECT *, holder != '' AS is_held, hour AS from_at FROM (
         SELECT * EXCEPT (from_at), toDateTime64(toStartOfHour(from_at, 'UTC'), 3, 'UTC') AS hour FROM charges_published)`,
    );
    const [left] = await store.query(
      `SELECT (SELECT count() FROM (${ofView} EXCEPT ${ofLines})) AS more, (SELECT count() FROM (${ofLines} EXCEPT ${ofView})) AS less,
         (SELECT count() > 0 FROM (${ofView})) AS some`,
    );
    expect(left).toMatchObject({ more: "0", less: "0", some: 1 });
  }
}

/** Columns with additive values. */
const SUMMED = [
  "lines",
  "gpu_hours",
  "list_cost",
  "contracted_cost",
  "effective_cost",
  "power_cost",
  "energy_mj",
  "carbon_grams",
];

function periodNamed(name: string): BillingPeriod {
  const period = readPeriod(name);
  if (period === undefined) throw new TypeError(`${name} is no month`);
  return period;
}
