import { createReader, messagesOf } from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { SERVING_PAGES } from "../../collectors/exporters/serving/pages.ts";
import { createTenants, TENANT_RULES } from "../../collectors/exporters/serving/tenants.ts";
import { SERVING_SCHEMA_VERSION, servingKey } from "../../domain/messages/serving-message.ts";
import type { ServingOrigin } from "../../domain/serving/scrape.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { hashText } from "../fleet/hash.ts";
import { livesBetween } from "../kubernetes/cluster/lives.ts";
import { engineNodes, enginesOf } from "../serving/engine.ts";
import { createGatewayPages, gatewayPodOf } from "../serving/gateway.ts";
import { vllmPage } from "../serving/vllm.ts";
import { HISTORY_COLLECTOR, momentAt, pastMessage, type PastMessage } from "./messages.ts";
import { gridTimes } from "./plan.ts";
import type { Range } from "./ranges.ts";

const TEMPLATE_BYTES = 16_000_000;

/** Makes the messages of the scrapes of a fleet's engines and gateway in a stretch of the past, target by target. */
export interface PastServing {
  messagesIn(chunk: Range): Iterable<PastMessage>;
}

/** A target in the past: its address, its pod, and its page at a time. */
interface PastTarget {
  readonly origin: ServingOrigin;
  readonly pageAt: (timeMillis: number) => Buffer;
  readonly times: readonly number[];
}

/** Creates past scrapes of a fleet's engines at an interval. As with exporters, a repeated message is identical. */
export function createPastServing(fleet: Fleet, intervalMillis: number): PastServing {
  const reader = createReader(SERVING_PAGES, createTemplates(TEMPLATE_BYTES));
  const nodes = engineNodes(fleet);
  const gateway = createGatewayPages(fleet);
  const common = { cluster: fleet.cluster, collector: HISTORY_COLLECTOR };

  function* targetsIn([from, until]: Range): Iterable<PastTarget> {
    // Node by node, so that the first message does not wait for the lives of a whole fleet.
    for (const node of nodes) {
      for (const life of livesBetween({ ...fleet, nodes: [node] }, from, until)) {
        const { pod, uid, startMillis, endMillis } = life;
        const times = gridTimes([Math.max(from, startMillis), Math.min(until, endMillis)], intervalMillis);
        for (const [index, engine] of enginesOf(life).entries()) {
          const target = `http://${pod.name}:${8000 + index}/metrics`;
          const origin = { ...common, target, node: node.name, namespace: pod.namespace, pod: pod.name, podUid: uid };
          yield { origin, times, pageAt: (timeMillis) => vllmPage(engine, timeMillis) };
        }
      }
    }
    const { name, namespace, uid, node } = gatewayPodOf(fleet);
    const origin = { ...common, target: `http://${name}:4000/metrics/`, node, namespace, pod: name, podUid: uid };
    yield { origin, times: gridTimes([from, until], intervalMillis), pageAt: gateway.pageAt };
  }

  return {
    *messagesIn(chunk) {
      for (const { origin, times, pageAt } of targetsIn(chunk)) {
        const key = hashText(fleet.seed, origin.target);
        const source = { key: origin.target, origin, tenants: createTenants(TENANT_RULES) };
        for (const timeMillis of times) {
          const reading = reader.read(source, pageAt(timeMillis), true);
          if ("failure" in reading) throw new Error(`the page of ${origin.target}: ${reading.failure.detail}`);
          const [made] = messagesOf(reading, momentAt(key, timeMillis, intervalMillis));
          const message = pastMessage(servingKey(origin), made!.message, SERVING_SCHEMA_VERSION);
          yield { message, rows: 0 };
        }
      }
    },
  };
}
