import { createServingDecoder, SERVING_SCHEMA_VERSION } from "../../domain/messages/serving-message.ts";
import { SERVING_GROUP, SERVING_TOPIC } from "../../domain/messages/topics.ts";
import type { ServingScrape } from "../../domain/serving/scrape.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertOrHalve } from "./batch.ts";
import { startIntake, type Intake } from "./intake.ts";
import type { ProcessorEvents } from "./processor.ts";
import { createServingRowWriter, insertServingRows } from "./serving-rows.ts";
import { createDecodeStep, type EncodedScrape } from "./steps/decode.ts";
import type { Outcome } from "./steps/outcome.ts";

/** Returns the number of rows of a scrape: one for the attempt, and one for each model, part or tenant. */
function servingRowsOf({ shape }: ServingScrape): number {
  return shape.series.length + 1;
}

/** Creates the pipeline of a message of `gpu.serving`. It only decodes: the ledger finds the GPUs of a pod. */
export function createServingPipeline(): (message: EncodedScrape) => Outcome<ServingScrape> {
  return createDecodeStep(createServingDecoder());
}

/**
 * Starts the intake that stores scrapes of engines and gateways in `serving_scrapes` and `serving_samples`, as a member of the group of
 * processors.
 */
export function startServing(options: {
  readonly bus: Bus;
  readonly store: StoreClient;
  readonly flushMillis: number;
  readonly flushRows: number;
  readonly events: Omit<ProcessorEvents, "onFresh" | "onPassedOver">;
  readonly now: () => number;
}): Promise<Intake> {
  const { store, events, now, ...rest } = options;
  const writer = createServingRowWriter();
  return startIntake<ServingScrape>({
    ...rest,
    now,
    group: SERVING_GROUP,
    topics: [SERVING_TOPIC],
    schemaVersion: SERVING_SCHEMA_VERSION,
    pipeline: createServingPipeline(),
    rowsOf: servingRowsOf,
    insert: (items) =>
      insertOrHalve(items, async (some) => {
        for (const { value, message } of some) writer.append(value, message);
        await insertServingRows(store, writer.take());
      }),
    events: {
      ...events,
      onStored(items, seconds) {
        const rows = items.reduce((sum, { value }) => sum + servingRowsOf(value), 0);
        events.onStored({ scrapes: items.length, rows, seconds, joined: new Map() });
        for (const { message, takenAtMillis } of items) {
          const traceparent = message.headers["traceparent"];
          if (traceparent !== undefined) events.onTraced(traceparent, takenAtMillis, now());
        }
      },
    },
  });
}
