import { encodeScrape, encodeStable, sampleKey, SCRAPE_SCHEMA_VERSION } from "../../domain/messages/scrape-message.ts";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import { EMPTY_SHAPE, type ScrapeFailure, type ScrapeOrigin } from "../../domain/scrape.ts";
import type { Scenario } from "../files.ts";
import type { PlayedMessage } from "./message.ts";
import { createEngines } from "./engine-scrapes.ts";
import { changesOf, vendorOf } from "./machine.ts";
import { createPageExporters } from "./page-scrapes.ts";
import { createPower } from "./power.ts";
import { reservationsOf } from "./reservations.ts";
import { createResidents } from "./residents.ts";
import { rowsAt, type RowSources } from "./rows.ts";
import { isWithin, lifeOf, tenureOf, type ScenarioNode } from "./tenure.ts";
import { COLUMNS, valuesAt } from "./values.ts";

const COLLECTOR = "scenario";
const DURATION_MICROS = 20_000;
const EXPORTERS = { nvidia: "dcgm-exporter", amd: "amd-device-metrics-exporter" } as const;
const WATTS = COLUMNS.indexOf("power_watts");
const JOULES = COLUMNS.indexOf("energy_joules");

/**
 * Yields the scrapes of a scenario as a collector would send them, one for each node and scrape time in the order of time, with those of its
 * files' pages. They are made on demand, so a month of many nodes takes no memory. If all GPUs of a node are in a gap, the attempt has failed. Values
 * that do not change are computed once, and again when something begins or ends on the node.
 */
export function* scrapesOf(scenario: Scenario): Generator<PlayedMessage> {
  const { period, scrapeInterval } = scenario;
  const nodes = scenario.nodes.filter(({ gpus }) => gpus > 0).map((node) => createExporter(scenario, node));
  const engines = createEngines(scenario);
  const pages = scenario.files === undefined ? [] : createPageExporters(scenario.files, COLLECTOR);
  for (let atMillis = period.start, sequence = 0; atMillis < period.end; atMillis += scrapeInterval, sequence++) {
    for (const { key, life, scrape } of nodes) {
      if (!isWithin(life, atMillis)) continue;
      yield { topic: SAMPLES_TOPIC, atMillis, key, value: scrape(atMillis), schemaVersion: SCRAPE_SCHEMA_VERSION };
    }
    const moment = {
      epoch: period.start,
      sequence,
      scrapedAtMillis: atMillis,
      intervalMillis: scrapeInterval,
      durationMicros: DURATION_MICROS,
    };
    for (const { origin, message: value } of pages.flatMap((page) => page.scrape(moment)))
      yield { topic: SAMPLES_TOPIC, atMillis, key: sampleKey(origin), value, schemaVersion: SCRAPE_SCHEMA_VERSION };
    yield* engines.flatMap((engine) => engine.scrape(atMillis, sequence) ?? []);
  }
  // The last interval of an engine ends with the period.
  const scrapes = Math.ceil((period.end - period.start) / scrapeInterval);
  yield* engines.flatMap((engine) => engine.scrape(period.end, scrapes) ?? []);
}

/** A node's page between two changes. */
interface Page {
  readonly stable: Uint8Array;
  /** The page's own values. Power and energy are written into them at each scrape, and the message has a copy. */
  readonly values: Float64Array;
  /** The GPU of each row. */
  readonly gpus: readonly number[];
  readonly failure: { readonly reason: ScrapeFailure; readonly detail: string } | undefined;
}

/** Returns an exporter of one node with its scraper. The times of calls must be ascending. */
function createExporter(scenario: Scenario, node: ScenarioNode) {
  const { cluster, name } = node;
  const { period, scrapeInterval: intervalMillis } = scenario;
  const power = createPower(scenario, node);
  const edges = edgesOf(scenario, node);
  const origin: ScrapeOrigin = { cluster, node: name, target: `http://${name}:9400/metrics`, collector: COLLECTOR };
  const sources: RowSources = {
    scenario,
    node,
    residents: createResidents(scenario, node),
    reservations: reservationsOf(scenario),
  };
  let sequence = 0;
  let edge = 0;
  let page: Page | undefined;

  function pageAt(at: number): Page {
    const rows = rowsAt(sources, at);
    if (rows.length === 0) {
      const failure = { reason: "timeout", detail: "the exporter is silent" } as const;
      return { stable: encodeStable(origin, EMPTY_SHAPE), values: new Float64Array(0), gpus: [], failure };
    }
    const shape = { exporter: EXPORTERS[vendorOf(node)], columns: COLUMNS, devices: rows.map(({ device }) => device) };
    const values = valuesAt(node, rows, at);
    return { stable: encodeStable(origin, shape), values, gpus: rows.map(({ gpu }) => gpu), failure: undefined };
  }

  return {
    key: JSON.stringify([cluster, name]),
    life: lifeOf(node, scenario),
    scrape(scrapedAtMillis: number): Uint8Array {
      const before = edge;
      while ((edges[edge] ?? Infinity) <= scrapedAtMillis) edge += 1;
      if (page === undefined || edge > before) page = pageAt(scrapedAtMillis);
      const { stable, values, gpus, failure } = page;
      gpus.forEach((gpu, row) => {
        if (!power.isMeasured(gpu)) return;
        values[row * COLUMNS.length + WATTS] = power.watts(gpu, scrapedAtMillis);
        if (node.energyCounter) values[row * COLUMNS.length + JOULES] = power.joules(gpu, scrapedAtMillis);
      });
      const moment = {
        epoch: period.start,
        sequence: sequence++,
        scrapedAtMillis,
        intervalMillis,
        durationMicros: DURATION_MICROS,
        dropped: {},
        ...(failure === undefined ? {} : { failure }),
      };
      return encodeScrape(stable, moment, values);
    },
  };
}

/** Returns the times at which an exporter's values can change, in order: pods, their activity, troubles, layouts, gaps. */
function edgesOf(scenario: Scenario, node: ScenarioNode): readonly number[] {
  const pods = scenario.pods.filter((pod) => pod.node === node.name);
  const spans = [
    ...node.telemetryGaps,
    ...pods.flatMap((pod) => tenureOf(pod, scenario) ?? []),
    ...pods.flatMap(({ activity }) => (Array.isArray(activity) ? activity : [])),
  ];
  const times = [...changesOf(node), ...spans.flatMap(({ from, until }) => [from, until])];
  return [...new Set(times.filter((at) => at !== undefined))].toSorted((a, b) => a - b);
}
