import { decodeClusterFact, decodeInventory, decodeWorkload } from "../../domain/messages/fact-message.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { INVENTORY_TOPIC, SAMPLES_TOPIC, SERVING_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { insertFacts, readFact, type FactRow } from "../../processors/ingest/facts.ts";
import { createHoldings } from "../../processors/ingest/holdings/holdings.ts";
import { createScrapeRowWriter, insertRows } from "../../processors/ingest/scrape-rows.ts";
import { createServingRowWriter, insertServingRows } from "../../processors/ingest/serving-rows.ts";
import { createServingPipeline } from "../../processors/ingest/serving.ts";
import { createDecodeStep } from "../../processors/ingest/steps/decode.ts";
import { createJoinStep } from "../../processors/ingest/steps/join.ts";
import { slicesOf } from "../../runtime/in-turns.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { PlayedMessage } from "../../scenarios/play/message.ts";
import { play } from "../../scenarios/play/play.ts";
import type { Scenario } from "../../scenarios/files.ts";

/** A message with its offset on the bus. */
export interface PlacedMessage extends PlayedMessage {
  readonly offset: number;
}

/** The messages that the collectors would have sent for a scenario, in order. */
export function messagesOf(scenario: Scenario): readonly PlacedMessage[] {
  return [...play(scenario)].map((message, index) => ({ ...message, offset: index + 1 }));
}

/** Stores the messages that the collectors would have sent for a scenario; `without` leaves out those of one topic. */
export async function storeScenario(store: StoreClient, scenario: Scenario, without?: string): Promise<void> {
  const messages = messagesOf(scenario).filter(({ topic }) => topic !== without);
  const put = createPut(store);
  for (const portion of slicesOf(messages, MESSAGES_PER_INSERT)) await put(portion);
}

/** For messages in order. */
export const MESSAGES_PER_INSERT = 10_000;

/** Stores messages as one portion, by the processor's steps and without a bus, with the facts of earlier portions. */
export function createPut(store: StoreClient): (messages: readonly PlacedMessage[]) => Promise<void> {
  const holdings = createHoldings();
  const decode = createDecodeStep(createScrapeDecoder());
  const join = createJoinStep(holdings);
  const writer = createScrapeRowWriter();
  const decodeServing = createServingPipeline();
  const servingWriter = createServingRowWriter();
  return async (messages) => {
    const facts: { readonly value: FactRow }[] = [];
    for (const { topic, value, offset } of messages) {
      if (topic === SAMPLES_TOPIC) {
        const decoded = decode({ value, intact: true });
        const joined = decoded.kind === "ok" ? join(decoded.value) : decoded;
        if (joined.kind !== "ok") throw new Error(`a played scrape is none: ${joined.reason}`);
        writer.append(joined.value, { partition: 0, offset });
      } else if (topic === SERVING_TOPIC) {
        const decoded = decodeServing({ value, intact: true });
        if (decoded.kind !== "ok") throw new Error(`a played scrape is none: ${decoded.reason}`);
        servingWriter.append(decoded.value, { partition: 0, offset });
      } else {
        const read = readFact({ topic, value, intact: true });
        if (read.kind !== "ok") throw new Error(`a played fact is none: ${read.reason}`);
        facts.push({ value: read.value });
        if (topic === WORKLOADS_TOPIC) holdings.workload(valid(decodeWorkload(value)));
        else if (topic === INVENTORY_TOPIC) holdings.inventory(valid(decodeInventory(value)));
        else holdings.clusterFact(valid(decodeClusterFact(value)));
      }
    }
    await insertFacts(store, facts);
    await insertRows(store, writer.take());
    await insertServingRows(store, servingWriter.take());
  };
}

function valid<Fact extends object>(fact: Fact | { readonly invalid: string }): Fact {
  if ("invalid" in fact) throw new Error(fact.invalid);
  return fact;
}
