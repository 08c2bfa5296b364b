import { encodeScrape, encodeStable, type ScrapeMoment } from "../../../domain/messages/scrape-message.ts";
import { EMPTY_SHAPE, type ScrapeOrigin } from "../../../domain/scrape.ts";
import { dayOf } from "../../../domain/time.ts";
import { PageError } from "../../exporters/http/page-error.ts";
import type { PageLimits } from "../../exporters/page/kind.ts";
import { failureMessages } from "../../exporters/page/reader.ts";
import { FAILED_IN_PROMETHEUS } from "../origin.ts";
import { createTargetSeries, type HostMessage, type NodeOfPod, type TargetSeries } from "../target-series.ts";
import type { Families } from "./families.ts";
import type { Layout } from "./layout.ts";
import type { Moment } from "./model.ts";
import type { PushedTarget } from "./model.ts";

/** The messages of a moment. */
export interface MomentMessages {
  readonly messages: readonly HostMessage[];
  /** The reason why the scrape counts as failed. */
  readonly failure: ScrapeMoment["failure"];
  /** True if the node of the target was searched among the pods and was not found. */
  readonly isNodeUnknown: boolean;
}

/** Makes the messages of moments. */
export interface TargetMessages {
  of(moment: Moment): MomentMessages;
  /** Returns the messages of a moment as a failed scrape. */
  failed(moment: Moment, failure: NonNullable<ScrapeMoment["failure"]>): readonly HostMessage[];
}

/** The series of a layout, with all that was assumed for them. */
interface Built {
  readonly series: TargetSeries;
  readonly families: number;
  readonly upLabels: PushedTarget["upLabels"];
  readonly asked: Map<string, { readonly pod: Parameters<NodeOfPod>[0]; readonly node: string | undefined }>;
}

const NO_VALUES = new Float64Array(0);

/** Creates a maker of messages. */
export function createTargetMessages(options: {
  readonly collector: string;
  readonly families: Families;
  readonly limits: Partial<PageLimits>;
}): TargetMessages {
  const { collector, families, limits } = options;
  const builds = new WeakMap<Layout, Built>();

  function build({ cluster, pods, upLabels }: PushedTarget): Built {
    const asked: Built["asked"] = new Map();
    const nodeOfPod: NodeOfPod = (pod) => {
      const node = pods.nodeOf(pod);
      asked.set(JSON.stringify(pod), { pod, node });
      return node;
    };
    const series = createTargetSeries({
      cluster,
      collector,
      targetLabels: upLabels,
      nodeOfPod,
      families: families.map,
      limits,
    });
    return { series, families: families.version, upLabels, asked };
  }

  /** Returns the series of a moment's layout. They are made again if the labels of the target, the pods or the families have changed. */
  function builtOf({ layout, target }: Moment): Built {
    let built = builds.get(layout);
    const isValid =
      built !== undefined &&
      built.families === families.version &&
      built.upLabels === target.upLabels &&
      [...built.asked.values()].every(({ pod, node }) => target.pods.nodeOf(pod) === node);
    if (built === undefined || !isValid) builds.set(layout, (built = build(target)));
    const { series } = built;
    while (series.size < layout.slots.length) series.add(layout.slots[series.size]!);
    return built;
  }

  function originsOf(target: PushedTarget): readonly ScrapeOrigin[] {
    if (target.origins.length > 0) return target.origins;
    const { cluster, instance } = target;
    const url = /^https?:\/\//.test(instance) ? instance : `http://${instance}/metrics`;
    return target.savedNodes.map((node) => ({ cluster, node, target: url, collector }));
  }

  function momentOf(moment: Moment): Omit<ScrapeMoment, "dropped"> {
    const { target, atMillis } = moment;
    const epoch = dayOf(atMillis);
    moment.intervalMillis ??= target.interval.millis;
    const { intervalMillis } = moment;
    const sequence = Math.floor((atMillis - epoch) / intervalMillis);
    return { epoch, sequence, scrapedAtMillis: atMillis, intervalMillis, durationMicros: 0 };
  }

  const failed: TargetMessages["failed"] = (moment, failure) =>
    failureMessages(originsOf(moment.target), { ...momentOf(moment), failure });

  return {
    failed,
    of(moment) {
      const { target, up } = moment;
      if (up === 0) {
        const failure = FAILED_IN_PROMETHEUS;
        return { messages: failed(moment, failure), failure, isNodeUnknown: false };
      }
      const built = builtOf(moment);
      const at = momentOf(moment);
      try {
        const messages = built.series.messagesAt(at, valuesOf(moment));
        const answers = [...built.asked.values()];
        const isNodeUnknown = answers.length > 0 && answers.every(({ node }) => node === undefined);
        if (messages.length > 0) {
          target.origins = built.series.origins;
          return { messages, failure: undefined, isNodeUnknown };
        }
      } catch (error) {
        if (!(error instanceof PageError)) throw error;
        const failure = { reason: error.reason, detail: error.message };
        return { messages: failed(moment, failure), failure, isNodeUnknown: false };
      }
      // Without `up`, all series have ended, or the target itself.
      const isEnd = up !== undefined && Number.isNaN(up);
      const messages = isEnd ? [] : originsOf(target).map((origin) => emptyMessage(origin, at));
      return { messages, failure: undefined, isNodeUnknown: false };
    },
  };
}

/** Returns the message of a page without a device. */
function emptyMessage(origin: ScrapeOrigin, moment: Omit<ScrapeMoment, "dropped">): HostMessage {
  return {
    origin,
    message: encodeScrape(encodeStable(origin, EMPTY_SHAPE), { ...moment, dropped: {} }, NO_VALUES),
  };
}

/** Returns a value for each slot. Slots can be newer than the values of a moment. */
function valuesOf({ values, layout }: Moment): Float64Array {
  const { length } = layout.slots;
  if (values.length >= length) return values;
  const longer = new Float64Array(length).fill(Number.NaN);
  longer.set(values);
  return longer;
}
