import { encodeServingStable, SERVING_SCHEMA_VERSION, servingKey } from "../../domain/messages/serving-message.ts";
import { encodeScrape } from "../../domain/messages/scrape-message.ts";
import { SERVING_TOPIC } from "../../domain/messages/topics.ts";
import { SERVING_METRICS } from "../../domain/serving/metric.ts";
import { EMPTY_SERVING_SHAPE, type ServingOrigin } from "../../domain/serving/scrape.ts";
import type { ServingSeries } from "../../domain/serving/series.ts";
import { groupedBy } from "../../domain/grouped.ts";
import type { ScenarioEngine } from "../engines.ts";
import type { Scenario } from "../files.ts";
import type { PlayedMessage } from "./message.ts";
import { clusterOf, isWithin, podUid, startedAt, tenureOf, type Span } from "./tenure.ts";

const COLLECTOR = "scenario";
const DURATION_MICROS = 20_000;
const FAILURE = { reason: "timeout", detail: "the engine is silent" } as const;

type Work = ScenarioEngine["work"][number];

/** A page of an engine or a gateway. */
export interface PlayedEngine {
  /** Returns the scrape of a time; undefined if the pod does not run. */
  scrape(atMillis: number, sequence: number): PlayedMessage | undefined;
}

/**
 * Returns the pages of a scenario's engines and gateways. The work of a span is added to the counters evenly, rounded down at each scrape,
 * and is complete at the span's end.
 */
export function createEngines(scenario: Scenario): readonly PlayedEngine[] {
  return scenario.engines.map((engine) => createEngine(scenario, engine));
}

function createEngine(scenario: Scenario, engine: ScenarioEngine): PlayedEngine {
  const { period, scrapeInterval: intervalMillis } = scenario;
  const { program, silent } = engine;
  const groups = [
    ...groupedBy(engine.work, ({ model, adapter, tenant }) => JSON.stringify([model, adapter, tenant])).values(),
  ];
  const series = groups.map(([{ model, adapter, tenant }]): ServingSeries => ({
    exporter: program,
    kind: engine.kind,
    model,
    ...(adapter !== "" && { adapter }),
    ...(tenant !== "" && { tenant }),
  }));
  const names = new Set(engine.work.flatMap((work) => Object.keys({ running: 0, waiting: 0, ...work.adds })));
  const columns = SERVING_METRICS.map(({ name }) => name).filter((name) => names.has(name) && hasValue(engine, name));
  const shape = { exporter: program, columns, series };

  return {
    scrape(atMillis, sequence) {
      const pod = runningPod(scenario, engine, atMillis);
      if (pod === undefined) return undefined;
      const isSilent = silent.some((span) => isWithin(span, atMillis));
      const origin = { ...pod.origin, target: targetOf(engine), collector: COLLECTOR };
      const began = Math.max(pod.began, ...engine.restarts.filter((at) => at <= atMillis));
      const values = groups.flatMap((works) =>
        columns.map((name) => valueOf(works, name, { from: began, until: atMillis })),
      );
      const moment = {
        epoch: period.start,
        sequence,
        scrapedAtMillis: atMillis,
        intervalMillis,
        durationMicros: DURATION_MICROS,
        dropped: {},
      };
      const value = isSilent
        ? encodeScrape(
            encodeServingStable(origin, EMPTY_SERVING_SHAPE),
            { ...moment, failure: FAILURE },
            new Float64Array(0),
          )
        : encodeScrape(encodeServingStable(origin, shape), moment, Float64Array.from(values));
      return { topic: SERVING_TOPIC, atMillis, key: servingKey(origin), value, schemaVersion: SERVING_SCHEMA_VERSION };
    },
  };
}

function hasValue({ work }: ScenarioEngine, name: string): boolean {
  if (name === "running" || name === "waiting") return work.some((each) => each[name] !== undefined);
  return true;
}

function targetOf({ pod, namespace, port }: ScenarioEngine): string {
  return `http://${pod}.${namespace}:${port}/metrics`;
}

/** Returns the pod of a page at a time, and when its counters began. A gateway has no GPU, so its pod is not one of the scenario's pods. */
function runningPod(
  scenario: Scenario,
  { pod, namespace }: ScenarioEngine,
  atMillis: number,
): { readonly origin: Omit<ServingOrigin, "target" | "collector">; readonly began: number } | undefined {
  const named = scenario.pods.filter((each) => each.name === pod && each.namespace === namespace);
  const [first] = scenario.nodes;
  const cluster = named[0] === undefined ? (first?.cluster ?? "default") : clusterOf(named[0], scenario);
  if (named.length === 0)
    return { origin: { cluster, node: "", namespace, pod, podUid: "" }, began: scenario.period.start };
  for (const each of named) {
    const began = startedAt(each, scenario);
    const until = tenureOf(each, scenario)?.until ?? 0;
    if (began === undefined || began > atMillis || atMillis > until) continue;
    return { origin: { cluster, node: each.node ?? "", namespace, pod, podUid: podUid(each, scenario) }, began };
  }
  return undefined;
}

/** Returns the value of a counter or gauge at the end of a span in which the counters counted; NaN if the work does not have it. */
function valueOf(works: readonly Work[], name: string, { from, until }: Span): number {
  if (name === "running" || name === "waiting")
    return works.filter((work) => isWithin(work, until)).reduce((sum, work) => sum + (work[name] ?? 0), 0);
  if (works.every(({ adds }) => adds[name] === undefined)) return Number.NaN;
  return works.reduce((sum, work) => sum + addedBy(work, name, until) - addedBy(work, name, from), 0);
}

function addedBy({ adds, from = -Infinity, until = Infinity }: Work, name: string, at: number): number {
  const total = adds[name] ?? 0;
  if (at <= from) return 0;
  return at >= until ? total : Math.floor((total * (at - from)) / (until - from));
}
