import {
  createPageReader,
  failureMessages,
  messagesOf,
  type Messages,
} from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { sampleKey, SCRAPE_SCHEMA_VERSION } from "../../domain/messages/scrape-message.ts";
import type { ScrapeOrigin } from "../../domain/scrape.ts";
import type { OutgoingMessage } from "../../runtime/bus/bus.ts";
import { createPageBuffer } from "../exporter/page.ts";
import { createPageRenderer, type PageRenderer } from "../exporter/renderer.ts";
import { collectedAt, type FleetNode } from "../fleet/node.ts";
import { isExporterAway } from "../fleet/troubles.ts";
import { HISTORY_COLLECTOR, momentAt, pastMessage } from "./messages.ts";

const TEMPLATE_BYTES = 256_000_000;

/** Makes the message of a scrape of a node at any time: the exporter's page, read like in the collector. */
export interface PastScrapes {
  messageAt(node: FleetNode, timeMillis: number): OutgoingMessage;
}

/**
 * Creates past scrapes at an interval. The target is the node's usual address, not this run's port, so that a repeated message is identical.
 */
export function createPastScrapes(intervalMillis: number): PastScrapes {
  const reader = createPageReader(createTemplates(TEMPLATE_BYTES));
  const buffer = createPageBuffer();
  const renderers = new Map<string, PageRenderer>();

  return {
    messageAt(node, timeMillis) {
      const moment = momentAt(node.key, timeMillis, intervalMillis);
      const origin: ScrapeOrigin = {
        cluster: node.cluster,
        node: node.name,
        target: `http://${node.name}:9400/metrics`,
        collector: HISTORY_COLLECTOR,
      };
      const outgoing = ([made]: Messages): OutgoingMessage =>
        pastMessage(sampleKey(origin), made!.message, SCRAPE_SCHEMA_VERSION);
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
