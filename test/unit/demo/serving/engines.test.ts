import { describe, expect, it } from "vitest";
import { inspectServingPage, type ServingInspection } from "../../../../collectors/exporters/serving/inspect.ts";
import { createFleet } from "../../../../demo/fleet/fleet.ts";
import { NO_LOAD } from "../../../../demo/fleet/load.ts";
import { createSlotMeter } from "../../../../demo/fleet/meter.ts";
import { tenancyAt } from "../../../../demo/fleet/tenancy.ts";
import { pagesOfEngines } from "../../../../demo/kubernetes/cluster/engine-pods.ts";
import { livesBetween } from "../../../../demo/kubernetes/cluster/lives.ts";
import { ownersOf } from "../../../../demo/kubernetes/cluster/pod-owners.ts";
import { engineNodes, enginesOf, startedAt, type Engine } from "../../../../demo/serving/engine.ts";
import { createGatewayPages } from "../../../../demo/serving/gateway.ts";
import { vllmPage } from "../../../../demo/serving/vllm.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../../../domain/time.ts";

const NOW = Date.UTC(2026, 5, 2, 12);
const fleet = createFleet({ seed: 1, gpus: 96 });
const engines = livesBetween(fleet, NOW - 7 * DAY_MILLIS, NOW).flatMap(enginesOf);

function read(page: Buffer): ServingInspection {
  const inspection = inspectServingPage(page);
  if ("reason" in inspection) throw new Error(inspection.detail);
  return inspection;
}

/** The values of an engine's row at a time. */
function valuesAt(engine: Engine, timeMillis: number): Readonly<Record<string, number>> {
  const { rows, drops } = read(vllmPage(engine, timeMillis));
  expect([rows.length, drops]).toEqual([1, []]);
  return rows[0]!.values;
}

/** The times in an engine's life within the week before now, one for each step. */
function timesOf({ life }: Engine, stepMillis: number): readonly number[] {
  const from = Math.max(life.startMillis, NOW - 7 * DAY_MILLIS);
  const until = Math.min(life.endMillis, NOW);
  return Array.from({ length: Math.ceil((until - from) / stepMillis) }, (_, step) => from + step * stepMillis);
}

const COUNTERS = [
  "prompt_tokens",
  "computed_prompt_tokens",
  "cached_device_tokens",
  "generation_tokens",
  "requests",
  "requests_stop",
  "queue_us",
  "prefill_us",
  "decode_us",
];

describe("the engines of the demo fleet", () => {
  it("are some dozens in a week, on devices of each kind, two of them in one pod", () => {
    expect(engines.length).toBeGreaterThan(20);
    expect(new Set(engines.map(({ life }) => life.node.sharing))).toContain("mig");
    const pods = new Set(engines.map(({ life }) => life.uid));
    expect(engines.length - pods.size).toBe(1);
    expect(engineNodes(fleet)).toEqual(expect.arrayContaining([...new Set(engines.map(({ life }) => life.node))]));
  });

  it("have one page for a group of two pods on two nodes, which work alike", () => {
    const group = livesBetween(fleet, NOW, NOW + 1).filter(({ pod }) => pod.workload.kind === "LeaderWorkerSet");
    const [leader, follower] = [0, 1].map((rank) => group.find(({ pod }) => pod.gang?.rank === rank)!);
    expect(group).toHaveLength(2);
    expect(leader!.node).not.toBe(follower!.node);
    expect([enginesOf(leader!).length, enginesOf(follower!).length]).toEqual([1, 0]);
    const address = { host: "127.0.0.1", ports: [8000, 8001] };
    expect(pagesOfEngines(leader!, address)).toMatchObject({ ports: [{ name: "metrics" }] });
    expect(pagesOfEngines(follower!, address)).toBeUndefined();
    expect(ownersOf(follower!).map(({ kind }) => kind)).toEqual([
      "StatefulSet",
      "Pod",
      "StatefulSet",
      "LeaderWorkerSet",
    ]);
    expect(ownersOf(follower!)[1]!.uid).toBe(leader!.uid);
    const loads = [leader!, follower!].map(({ slots }) => tenancyAt(slots[0]!, NOW).load);
    expect(loads.every((load) => load !== NO_LOAD)).toBe(true);
  });

  it("have the same page at the same time, and counters that rise until the engine starts again", () => {
    let restarts = 0;
    for (const engine of engines) {
      let last: Readonly<Record<string, number>> | undefined;
      let start = Number.NaN;
      for (const time of timesOf(engine, 3 * HOUR_MILLIS)) {
        const values = valuesAt(engine, time);
        expect(vllmPage(engine, time).equals(vllmPage(engine, time))).toBe(true);
        const isRestart = last !== undefined && startedAt(engine, time) !== start;
        const least = isRestart ? undefined : last;
        for (const name of COUNTERS) expect(values[name]).toBeGreaterThanOrEqual(least?.[name] ?? 0);
        last = values;
        start = startedAt(engine, time);
        expect(values["created_ms"]).toBe(start);
        if (!isRestart || engine.load === NO_LOAD) continue;
        expect(valuesAt(engine, start)["prompt_tokens"]).toBe(0);
        expect(valuesAt(engine, start - MINUTE_MILLIS)["prompt_tokens"]).toBeGreaterThan(0);
        restarts += 1;
      }
    }
    expect(restarts).toBeGreaterThan(20);
  });

  it("have requests and tokens exactly while their GPU is busy, in proportion to its activity", () => {
    for (const engine of engines) {
      const { model, life, slot, watts } = engine;
      const meter = createSlotMeter(life.node, slot);
      for (const time of timesOf(engine, 5 * HOUR_MILLIS)) {
        const later = time + 10 * MINUTE_MILLIS;
        if (startedAt(engine, later) !== startedAt(engine, time) || later >= life.endMillis) continue;
        meter.moveTo(time);
        const [load, area, tenancy] = [meter.load, meter.loadSeconds, meter.tenancy];
        const values = valuesAt(engine, time);
        expect(values["running"]! > 0).toBe(load > 0);
        meter.moveTo(later);
        // The area starts anew when the driver is loaded.
        if (meter.loadSeconds < area || meter.tenancy !== tenancy) continue;
        const joules = (meter.loadSeconds - area) * watts;
        const after = valuesAt(engine, later);
        for (const [name, ofJoule] of [
          ["prompt_tokens", model.promptOfJoule],
          ["generation_tokens", model.generatedOfJoule],
        ] as const)
          expect(Math.abs(after[name]! - values[name]! - joules * ofJoule)).toBeLessThan(2);
      }
    }
  });

  it("include one that sleeps: its model has no traffic", () => {
    const asleep = engines.filter((engine) => valuesAt(engine, NOW - MINUTE_MILLIS)["asleep"] === 1);
    expect(asleep.map(({ model }) => model.name)).toEqual(["whisper-large-v3-turbo"]);
    expect(valuesAt(asleep[0]!, NOW)).toMatchObject({
      running: 0,
      prompt_tokens: 0,
      generation_tokens: 0,
      requests: 0,
    });
  });
});

describe("the gateway of the demo fleet", () => {
  const gateway = createGatewayPages(fleet);
  /** The tokens of each model on the gateway's page, and its tenants. */
  function gatewayAt(timeMillis: number) {
    const { rows, drops } = read(gateway.pageAt(timeMillis));
    expect(drops).toEqual([]);
    const tokens = new Map<string, number>();
    for (const { series, values } of rows)
      tokens.set(series.model, (tokens.get(series.model) ?? 0) + values["prompt_tokens"]!);
    const created = new Set(rows.map(({ values }) => values["created_ms"]!));
    return { tokens, tenants: new Set(rows.map(({ series }) => series.tenant)), created: [...created][0]! };
  }

  it("has three tenants, whose tokens are a bit less than those of its engines", () => {
    let compared = 0;
    for (let from = NOW - 5 * DAY_MILLIS; from < NOW; from += 6 * HOUR_MILLIS) {
      const until = from + HOUR_MILLIS;
      const [before, after] = [gatewayAt(from), gatewayAt(until)];
      expect(after.tenants).toEqual(new Set(["helpdesk", "search", "nightly-summaries"]));
      if (after.created !== before.created) continue;
      for (const [model, tokens] of after.tokens) {
        const ofModel = engines.filter((each) => each.model.name === model && each.life.startMillis < until);
        const own = ofModel.filter(({ life }) => life.endMillis > from);
        const isSteady = own.every(
          (each) =>
            each.life.startMillis <= from &&
            each.life.endMillis >= until &&
            startedAt(each, from) === startedAt(each, until),
        );
        if (!isSteady) continue;
        const served = own.reduce(
          (sum, each) => sum + valuesAt(each, until)["prompt_tokens"]! - valuesAt(each, from)["prompt_tokens"]!,
          0,
        );
        const passed = tokens - (before.tokens.get(model) ?? 0);
        expect(passed).toBeGreaterThanOrEqual(0.93 * served - 10);
        expect(passed).toBeLessThanOrEqual(0.95 * served + 10);
        compared += served > 0 ? 1 : 0;
      }
    }
    expect(compared).toBeGreaterThan(20);
  });

  it("has the same page at the same time, whatever was requested before, and falls once a day", () => {
    const times = Array.from({ length: 24 }, (_, index) => NOW - index * 2 * HOUR_MILLIS);
    const backward = times.map((time) => gateway.pageAt(time));
    const forward = times.toReversed().map((time) => gateway.pageAt(time));
    expect(forward.toReversed()).toEqual(backward);
    const sums = times
      .toReversed()
      .map((time) => [...gatewayAt(time).tokens.values()].reduce((sum, each) => sum + each, 0));
    expect(sums.filter((sum, i) => i > 0 && sum < sums[i - 1]!)).toHaveLength(2);
  });
});
