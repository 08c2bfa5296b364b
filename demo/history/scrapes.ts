import { createPageReader, failureMessages, messagesOf } from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { sampleKey, SCRAPE_SCHEMA_VERSION } from "../../domain/messages/scrape-message.ts";
import { BACKFILL_HEADER } from "../../domain/messages/topics.ts";
import type { ScrapeOrigin } from "../../domain/scrape.ts";
import type { OutgoingMessage } from "../../runtime/bus/bus.ts";
import { createPageBuffer } from "../exporter/page.ts";
import { createPageRenderer, type PageRenderer } from "../exporter/renderer.ts";
import { hash } from "../fleet/hash.ts";
import { collectedAt, type FleetNode } from "../fleet/node.ts";
import { isExporterAway } from "../fleet/troubles.ts";
import { dayOf } from "../../domain/time.ts";

/** The collector name in past scrapes. */
export const HISTORY_COLLECTOR = "demo-history";

const TEMPLATE_BYTES = 256_000_000;

/** Makes the message of a scrape of a node at any time: the exporter's page, read like in the collector. */
export interface PastScrapes {
  messageAt(node: FleetNode, timeMillis: number): OutgoingMessage;
}

/**
 * Creates past scrapes at an interval. Epoch and sequence depend only on the day and the interval. The target is the node's usual address,
 * not this run's port. So a repeated message is identical.
 */
export function createPastScrapes(intervalMillis: number): PastScrapes {
  const reader = createPageReader(createTemplates(TEMPLATE_BYTES));
  const buffer = createPageBuffer();
  const renderers = new Map<string, PageRenderer>();

  return {
    messageAt(node, timeMillis) {
      const epoch = dayOf(timeMillis);
      const moment = {
        epoch,
        sequence: Math.floor((timeMillis - epoch) / intervalMillis),
        scrapedAtMillis: timeMillis,
        intervalMillis,
        durationMicros: 2500 + (hash(node.key, timeMillis / 1000, 71) % 4000),
      };
      const origin: ScrapeOrigin = {
        cluster: node.cluster,
        node: node.name,
        target: `http://${node.name}:9400/metrics`,
        collector: HISTORY_COLLECTOR,
      };
      const outgoing = ([made]: ReturnType<typeof messagesOf>): OutgoingMessage => ({
        key: sampleKey(origin),
        value: made!.message,
        schemaVersion: SCRAPE_SCHEMA_VERSION,
        headers: { [BACKFILL_HEADER]: HISTORY_COLLECTOR },
      });
      if (isExporterAway(node, timeMillis)) {
        const failure = { reason: "http-status", detail: "HTTP 503" } as const;
        return outgoing(failureMessages([origin], { ...moment, failure }));
      }
      let renderer = renderers.get(node.name);
      if (renderer === undefined) renderers.set(node.name, (renderer = createPageRenderer(node)));
      const page = renderer.render(collectedAt(node, timeMillis), buffer);
      const source = { key: node.name, origin: () => origin };
      const reading = reader.read(source, page, true);
      return outgoing(
        "failure" in reading
          ? failureMessages([origin], { ...moment, failure: reading.failure })
          : messagesOf(reading, moment),
      );
    },
  };
}
