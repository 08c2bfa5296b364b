import type { Logger } from "pino";
import { periodOf, periodsDue, type BillingPeriod } from "../domain/period.ts";
import { closePeriod } from "../processors/ledger/closing/close.ts";
import { readClosed } from "../processors/ledger/closed/closed.ts";
import { firstCharged } from "../processors/ledger/closing/readiness.ts";
import type { Config } from "../runtime/config/schema.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { closeSettingOf } from "./ledger-rules.ts";

const LOOK_MILLIS = 5_000;
const REQUEST = {
  by: "demo",
  why: "the demo's finance closes each month on its closing date",
  invoice: [],
  isDryRun: false,
} as const;

/** Closes the months of a demo whose closing date has come, oldest first, once their hours are charged. */
export function startDemoClose(options: {
  readonly config: Config;
  readonly store: StoreClient;
  /** True if no hour of a period waits to be sent or to be charged. */
  readonly isCharged: (period: BillingPeriod) => boolean;
  readonly logger: Logger;
}): Repeated {
  const { config, store, isCharged, logger } = options;
  const setting = closeSettingOf(config);

  async function close(): Promise<void> {
    const first = await firstCharged(store);
    if (first === undefined) return;
    const { openSince } = await readClosed(store);
    for (const period of periodsDue(periodOf(Math.max(first, openSince)), Date.now(), setting.closingDay)) {
      if (!isCharged(period)) return;
      await closePeriod(store, { period, ...REQUEST }, setting, Date.now());
      logger.info({ period: period.name }, "a month of the demo was closed");
    }
  }

  return repeat(LOOK_MILLIS, close, (error) =>
    logger.debug({ err: error }, "a month of the demo cannot be closed yet"),
  );
}
