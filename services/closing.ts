import { readPeriod } from "../domain/period.ts";
import { CloseError } from "../processors/ledger/closing/close-error.ts";
import { closePeriod, type CloseReport } from "../processors/ledger/closing/close.ts";
import { CloseRefused, type Closing } from "../reports/closing.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { closeSettingOf } from "./ledger-rules.ts";

/** Returns the closing of periods by a configuration. List prices are no bookkeeping, so periods with them are not closed. */
export function createClosing(config: Config, store: StoreClient, now: () => number): Closing {
  const isList = ledgerOf(config).book.isList === true;
  const listPriced = "charges are by public list prices: write a price book first";

  async function run(name: string, of: { by: string; why: string; isDryRun: boolean }): Promise<CloseReport> {
    const period = readPeriod(name);
    if (period === undefined) throw new CloseRefused(`${name} is not a month`);
    try {
      return await closePeriod(store, { period, invoice: [], ...of }, closeSettingOf(config), now());
    } catch (error) {
      if (error instanceof CloseError) throw new CloseRefused(error.message);
      throw error;
    }
  }

  return {
    async preview(name, by) {
      const { document, objections, differences } = await run(name, { by, why: "", isDryRun: true });
      const { currency, total, unowned } = document;
      return {
        currency,
        posted: total.posted,
        unowned,
        unpricedGpuHours: total.unpricedGpuHours,
        objections: [...(isList ? [listPriced] : []), ...objections.map(({ sentence }) => sentence)],
        differences,
      };
    },
    async close(name, of) {
      if (isList) throw new CloseRefused(listPriced);
      await run(name, { ...of, isDryRun: false });
    },
  };
}
