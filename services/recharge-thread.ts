import { workerData } from "node:worker_threads";
import type { Recharged } from "../processors/ledger/hours/compute-hour.ts";
import type { StaleWindow } from "../processors/ledger/hours/stale-hours.ts";
import { createRecharge, type RechargeTurn } from "../processors/ledger/term/recharge.ts";
import type { Config } from "../runtime/config/schema.ts";
import { connectStore, type StoreAddress } from "../runtime/store/connection.ts";
import { rulesOfConfig } from "./ledger-rules.ts";

/** The data with which a thread is started. */
export interface RechargeThread {
  readonly config: Config;
  readonly address: StoreAddress;
}

const { config, address } = workerData as RechargeThread;
const again = createRecharge(connectStore(address, config), rulesOfConfig(config).rules);

/** Charges hours again in this thread, with the thread's own client and rules from the same configuration. */
export default function recharge({
  windows,
  turn,
}: {
  readonly windows: readonly StaleWindow[];
  readonly turn: RechargeTurn;
}): Promise<readonly PromiseSettledResult<Recharged>[]> {
  return again.charge(windows, turn);
}
