import { computeLedger } from "../../../processors/ledger/hours/compute-hour.ts";
import { NOTHING_CLOSED } from "../../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../../processors/ledger/closed/frozen.ts";
import { readCharges } from "../../../processors/ledger/charging/read-charges.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import { parseConfig } from "../../../runtime/config/load.ts";
import { slicesOf } from "../../../runtime/in-turns.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { groupLines, type Bill } from "../../../scenarios/bill.ts";
import { billOf } from "../../../scenarios/lines.ts";
import type { PlayedMessage } from "../../../scenarios/play/message.ts";
import { withDemoLedger } from "../../../services/demo-config.ts";
import { rulesOfConfig } from "../../../services/ledger-rules.ts";
import { createPut, MESSAGES_PER_INSERT } from "../play.ts";

const CONFIG = withDemoLedger(parseConfig("", { source: "the default", folder: ".", env: {} }));

/** Stores messages, charges each hour of a span by the demo's rules, and returns the bill. */
export async function chargeMessages(
  store: StoreClient,
  messages: readonly PlayedMessage[],
  cluster: string,
  span: { readonly fromMillis: number; readonly untilMillis: number },
): Promise<Bill> {
  const put = createPut(store);
  const placed = messages.map((message, index) => ({ ...message, offset: index + 1 }));
  for (const portion of slicesOf(placed, MESSAGES_PER_INSERT)) await put(portion);
  const { rules, policies } = rulesOfConfig(CONFIG);
  const weights = createFrozenWeights(store);
  let generation = 0;
  for (let windowStart = span.fromMillis; windowStart < span.untilMillis; windowStart += HOUR_MILLIS) {
    const asked = {
      generation: (generation += 1),
      facts: new Map(),
      now: span.untilMillis,
      closed: NOTHING_CLOSED,
      weights,
    };
    const { breaches } = await computeLedger(store, { cluster, windowStart }, rules, asked);
    if (breaches.length > 0) throw new Error(`charges do not add up: ${JSON.stringify(breaches[0])}`);
  }
  return billOf(await readCharges(store, policies[0], { from: span.fromMillis, until: span.untilMillis }));
}

/** Returns the GPU-hours and the cost of a bill by some dimensions. */
export function sumsOf(
  bill: Bill,
  by: readonly string[],
): ReadonlyMap<string, { readonly gpuHours: number; readonly cost: number }> {
  return new Map(
    groupLines(bill.lines, by).map(({ dimensions, gpuHours, cost }) => [
      Object.values(dimensions).join(" "),
      { gpuHours: Number(gpuHours) / 1e9, cost: Number(cost ?? 0n) / 1e9 },
    ]),
  );
}
