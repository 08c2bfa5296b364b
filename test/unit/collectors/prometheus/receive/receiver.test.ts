import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { RefusedWrite } from "../../../../../collectors/prometheus/receive/refused-write.ts";
import { BusError } from "../../../../../runtime/bus/bus.ts";
import { dayOf } from "../../../../../domain/time.ts";
import { ENDED } from "../../../../support/remote-write.ts";
import { pushedPage, startReceiverWorld, T0, type ReceiverWorld } from "../../../../support/receiver-world.ts";

const worlds: ReceiverWorld[] = [];
afterEach(async () => {
  for (const { receiver } of worlds.splice(0)) await receiver.stop();
});

async function started(given: Parameters<typeof startReceiverWorld>[0] = {}): Promise<ReceiverWorld> {
  const world = await startReceiverWorld(given);
  worlds.push(world);
  return world;
}

const ended = (atMillis: number): ReturnType<typeof pushedPage> =>
  pushedPage({ atMillis }).map(({ labels }) => ({
    labels,
    samples: [[atMillis, labels["__name__"] === "up" ? 0 : ENDED]],
  }));

describe.each([1, 2] as const)("remote write %i.0", (version) => {
  test("the samples of one time are one message, after the wait for other requests", async () => {
    const world = await started({ version });
    await world.send(pushedPage({ atMillis: T0 }));
    await world.pass(1_000);
    expect(world.sent).toEqual([]);
    await world.pass(5_000);
    expect(world.sent).toHaveLength(1);
    const [{ node, target, epoch, sequence, scrapedAtMillis, intervalMillis, shape, values, failure }] = world.sent as [
      (typeof world.sent)[0],
    ];
    expect({ node, target, epoch, sequence, scrapedAtMillis, intervalMillis, failure }).toEqual({
      node: "gpu-a",
      target: "http://10.0.0.7:9400/metrics",
      epoch: dayOf(T0),
      sequence: (T0 - dayOf(T0)) / 30_000,
      scrapedAtMillis: T0,
      intervalMillis: 30_000,
      failure: undefined,
    });
    expect(shape.columns).toEqual(["gpu_utilization_ratio", "fb_used_bytes"]);
    expect(shape.devices.map(({ gpu }) => gpu)).toEqual(["0", "1"]);
    expect([...values]).toEqual([0.5, 1_000 * 2 ** 20, 0.5, 1_000 * 2 ** 20]);
  });

  test("known series are found again, in any order", async () => {
    const world = await started({ version });
    for (let tick = 0; tick < 4; tick++) {
      const page = pushedPage({ atMillis: T0 + tick * 30_000, util: tick });
      await world.send(tick % 2 === 0 ? page : page.toReversed());
      await world.pass(30_000);
    }
    expect(world.receiver.use.series).toBe(5);
    expect(world.sent.map(({ values }) => values[0])).toEqual([0, 0.01, 0.02, 0.03]);
  });

  test("series of other exporters are counted and left out", async () => {
    const world = await started({ version });
    const other = { labels: { __name__: "node_load1", job: "node", instance: "a" }, samples: [[T0, 1]] as const };
    await world.send([other, ...pushedPage({ atMillis: T0 }), other]);
    await world.pass(6_000);
    expect(world.dropped).toEqual({ "other-series": 2 });
    expect(world.sent).toHaveLength(1);
  });

  test("metadata of a family decides the unit", async () => {
    const world = await started({ version });
    const name = "DCGM_FI_DEV_POWER_VIOLATION";
    const page = pushedPage({ atMillis: T0, gpus: 1 });
    const series = { labels: { ...page[0]!.labels, __name__: name }, samples: [[T0, 3e9]] as const };
    await world.send(
      [series, ...page],
      [{ name, help: "Throttling duration due to power constraints (in ns).", type: 1 }],
    );
    await world.pass(6_000);
    const { shape, values } = world.sent[0]!;
    expect(values[shape.columns.indexOf("power_violation_seconds")]).toBe(3);
  });

  test("a request that is split into many is one message", async () => {
    const world = await started({ version });
    const at = (tick: number): number => T0 + tick * 30_000;
    for (const series of pushedPage({ atMillis: at(0) })) await world.send([series]);
    await world.pass(10_000);
    expect(world.sent).toHaveLength(1);
    // A later scrape arrives in one shard before the rest of this scrape arrives in another.
    const [first, ...others] = pushedPage({ atMillis: at(1) });
    await world.send([first!]);
    await world.pass(2_000);
    await world.send([pushedPage({ atMillis: at(2) })[0]!]);
    await world.pass(3_000);
    expect(world.sent).toHaveLength(1);
    await world.send(others);
    await world.pass(1_500);
    expect(world.sent).toHaveLength(2);
    expect(world.sent[1]!.scrapedAtMillis).toBe(at(1));
    expect(world.sent[1]!.values).toHaveLength(4);
    expect(world.outcomes).toEqual(["sent", "sent"]);
  });
});

describe("moments", () => {
  test("late samples lead to the whole message again, and samples of forgotten moments are too late", async () => {
    const world = await started();
    const [late, ...page] = pushedPage({ atMillis: T0 });
    await world.send(page);
    await world.pass(6_000);
    expect([...world.sent[0]!.values]).toEqual([ENDED, 1_000 * 2 ** 20, 0.5, 1_000 * 2 ** 20]);
    await world.pass(60_000);
    await world.send([late!]);
    await world.pass(3_000);
    expect(world.outcomes).toEqual(["sent", "repeated"]);
    expect([...world.sent[1]!.values]).toEqual([0.5, 1_000 * 2 ** 20, 0.5, 1_000 * 2 ** 20]);
    const { epoch, sequence } = world.sent[0]!;
    expect(world.sent[1]).toMatchObject({ epoch, sequence });
    await world.pass(121_000);
    await world.send([late!]);
    await world.pass(10_000);
    expect(world.sent).toHaveLength(2);
    expect(world.dropped).toEqual({ "too-late": 1 });
  });

  test("a repeated request changes nothing", async () => {
    const world = await started();
    const page = pushedPage({ atMillis: T0 });
    await world.send(page);
    await world.send(page);
    await world.pass(6_000);
    await world.send(page);
    await world.pass(6_000);
    expect(world.outcomes).toEqual(["sent"]);
  });

  test("samples out of order do no harm", async () => {
    const world = await started();
    const at = [0, 3, 1, 2].map((tick) => T0 + tick * 30_000);
    for (const atMillis of at) await world.send(pushedPage({ atMillis }));
    await world.pass(6_000);
    expect(new Set(world.sent.map(({ scrapedAtMillis }) => scrapedAtMillis))).toEqual(new Set(at));
    expect(world.sent).toHaveLength(4);
    expect(world.sent.every(({ values }) => values.length === 4)).toBe(true);
  });

  test("a target has at most 120 moments in a minute, and another one of the same request has all of its own", async () => {
    const world = await started();
    const flood = Array.from({ length: 3_000 }, (_, millis) => pushedPage({ atMillis: T0 + millis, gpus: 1 })).flat();
    const other = { instance: "10.0.0.8:9400", more: { node: "gpu-b" } };
    await world.send([...flood, ...pushedPage({ atMillis: T0, ...other })]);
    // Of one target, 64 moments are sent at once.
    for (let count = 0; count < 10; count++) await world.pass(5_000);
    expect(world.dropped).toEqual({ "too-often": 3 * (3_000 - 120) });
    expect(world.sent.filter(({ node }) => node === "gpu-a")).toHaveLength(120);
    expect(world.sent.filter(({ node }) => node === "gpu-b")).toHaveLength(1);
    await world.send(pushedPage({ atMillis: T0 + 60_000, gpus: 1 }));
    await world.pass(20_000);
    expect(world.sent.filter(({ node }) => node === "gpu-a")).toHaveLength(121);
  });

  test("scrapes of 1 s with 20 % jitter lose nothing", async () => {
    const world = await started();
    const jitter = [0, 200, -200, 130, -70, 199, -180];
    const times = Array.from({ length: 300 }, (_, second) => T0 + second * 1_000 + jitter[second % jitter.length]!);
    for (let first = 0; first < times.length; first += 10) {
      await world.send(times.slice(first, first + 10).flatMap((atMillis) => pushedPage({ atMillis, gpus: 1 })));
      await world.pass(10_000);
    }
    await world.pass(20_000);
    expect(world.dropped).toEqual({});
    expect(world.sent).toHaveLength(300);
  });

  test("the interval is that of the samples", async () => {
    const world = await started();
    for (let tick = 0; tick < 6; tick++) {
      // As Prometheus scrapes: some milliseconds of jitter.
      await world.send(pushedPage({ atMillis: T0 + tick * 15_000 + (tick % 3) }));
      await world.pass(15_000);
    }
    expect(world.sent.map(({ intervalMillis }) => intervalMillis).slice(-2)).toEqual([15_000, 15_000]);
  });

  test("a target that is down is a failed scrape of the node", async () => {
    const world = await started();
    await world.send(pushedPage({ atMillis: T0 }));
    await world.pass(30_000);
    await world.send(ended(T0 + 30_000));
    await world.pass(6_000);
    const [good, bad] = world.sent;
    expect(bad).toMatchObject({
      node: good!.node,
      target: good!.target,
      failure: { reason: "refused", detail: "up is 0 in Prometheus" },
    });
    expect(bad!.shape.devices).toEqual([]);
    expect(world.outcomes).toEqual(["sent", "failed-scrape"]);
  });

  test("a moment whose series have ended has no device, and a target that has ended has no message", async () => {
    const world = await started();
    await world.send(pushedPage({ atMillis: T0 }));
    await world.pass(30_000);
    const series = ended(T0 + 30_000).slice(0, -1);
    await world.send(series);
    await world.pass(11_000);
    expect(world.sent[1]).toMatchObject({ node: "gpu-a" });
    expect(world.sent[1]!.failure).toBeUndefined();
    expect(world.sent[1]!.shape.devices).toEqual([]);
    await world.send(ended(T0 + 60_000).map(({ labels }) => ({ labels, samples: [[T0 + 60_000, ENDED] as const] })));
    await world.pass(11_000);
    expect(world.outcomes).toEqual(["sent", "sent", "without-gpu"]);
    expect(world.sent).toHaveLength(2);
  });

  test("a GPU that has ended has no row any longer", async () => {
    const world = await started();
    await world.send(pushedPage({ atMillis: T0 }));
    await world.pass(30_000);
    const [, , ...second] = ended(T0 + 30_000);
    await world.send([...pushedPage({ atMillis: T0 + 30_000, gpus: 1 }), ...second.slice(0, -1)]);
    await world.pass(3_000);
    expect(world.sent.map(({ shape }) => shape.devices.length)).toEqual([2, 1]);
  });

  test("a message that the bus refuses is sent again", async () => {
    const world = await started();
    world.refusal = new BusError("disk-full", "full", { retriable: true });
    await world.send(pushedPage({ atMillis: T0 }));
    await world.pass(6_000);
    await world.pass(6_000);
    expect(world.sent).toEqual([]);
    world.refusal = undefined;
    await world.pass(6_000);
    expect(world.outcomes).toEqual(["sent"]);
  });

  test("series that come and go do not fill the memory of a target", async () => {
    const world = await started();
    for (let tick = 0; tick < 300; tick++) {
      const atMillis = T0 + tick * 30_000;
      const more = { exported_namespace: "vision", exported_pod: `job-${tick}` };
      await world.send(
        pushedPage({ atMillis }).map((series) => ({ ...series, labels: { ...series.labels, ...more } })),
      );
      await world.pass(30_000);
    }
    expect(world.sent).toHaveLength(300);
    const slots = [...world.receiver.targets.values()].map(({ layout }) => layout.slots.length);
    expect(Math.max(...slots)).toBeLessThan(400);
    expect(world.receiver.use.series).toBeLessThan(600);
  });
});

describe("the node of a target", () => {
  const page = (atMillis: number): ReturnType<typeof pushedPage> =>
    pushedPage({ atMillis }).map(({ labels, samples }) => {
      const { node: _, ...rest } = labels;
      return { labels: rest, samples };
    });
  const podInfo = (atMillis: number): ReturnType<typeof pushedPage>[number] => ({
    labels: {
      __name__: "kube_pod_info",
      pod: "dcgm-x",
      namespace: "gpu",
      pod_ip: "10.0.0.7",
      node: "gpu-b",
      job: "ksm",
    },
    samples: [[atMillis, 1]],
  });

  test("is that of its pod, and the first moments wait for it", async () => {
    const world = await started({ learnMillis: 60_000 });
    await world.send(page(T0));
    await world.pass(10_000);
    expect(world.sent).toEqual([]);
    await world.send([podInfo(T0 + 10_000)]);
    await world.pass(10_000);
    expect(world.sent.map(({ node }) => node)).toEqual(["gpu-b"]);
  });

  test("is the address if no pod is known after a minute", async () => {
    const world = await started({ learnMillis: 60_000 });
    await world.send(page(T0));
    for (let pass = 0; pass < 8; pass++) await world.pass(10_000);
    expect(world.sent.map(({ node }) => node)).toEqual(["10.0.0.7:9400"]);
  });

  test("is known at once after a restart", async () => {
    const world = await startReceiverWorld({ learnMillis: 60_000 });
    await world.send([...page(T0), podInfo(T0)]);
    await world.pass(10_000);
    await world.receiver.stop();
    const again = await started({ folder: world.folder, nowMillis: T0 + 3_600_000, learnMillis: 60_000 });
    await again.send(page(T0 + 3_600_000));
    await again.pass(6_000);
    expect(again.sent.at(-1)!.node).toBe("gpu-b");
  });

  test("is on disk after a failed attempt, even if nothing changes any more", async () => {
    const world = await started({ learnMillis: 60_000 });
    await world.send([...page(T0), podInfo(T0)]);
    const obstacle = join(world.folder, "state.json.new");
    mkdirSync(obstacle);
    for (let pass = 0; pass < 3; pass++) await world.pass(10_000);
    rmdirSync(obstacle);
    await world.pass(10_000);
    expect(readFileSync(join(world.folder, "state.json"), "utf8")).toContain("gpu-b");
  });
});

describe("replicas of one Prometheus", () => {
  test("one of them counts, and another takes over when it is silent", async () => {
    const world = await started();
    const send = (replica: string, atMillis: number, util: number): Promise<void> =>
      world.send(pushedPage({ atMillis, util, more: { prometheus_replica: replica } }));
    for (let tick = 0; tick < 4; tick++) {
      await send("a", T0 + tick * 30_000, 10);
      await send("b", T0 + tick * 30_000 + 5_000, 20);
      await world.pass(30_000);
    }
    expect(world.sent.every(({ values }) => values[0] === 0.1)).toBe(true);
    expect(world.dropped).toEqual({ replica: 20 });
    for (let tick = 4; tick < 8; tick++) {
      await send("b", T0 + tick * 30_000 + 5_000, 20);
      await world.pass(30_000);
    }
    expect(world.elections()).toBe(1);
    expect(world.sent.at(-1)!.values[0]).toBe(0.2);
    expect(world.sent.at(-1)!.node).toBe("gpu-a");
    // The labels of the replica are not part of the message.
    expect(JSON.stringify(world.sent.at(-1)!.shape)).not.toContain("replica");
  });
});

describe("limits", () => {
  test("series over the limit are left out and counted", async () => {
    const world = await started({ limits: { series: 3 } });
    await world.send(pushedPage({ atMillis: T0 }));
    expect(world.dropped).toEqual({ "series-limit": 2 });
  });

  test("series with too many or too long labels are left out and counted", async () => {
    const world = await started({ limits: { labels: 8, labelBytes: 100 } });
    const [first, second] = pushedPage({ atMillis: T0 });
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`label_${index}`, "x"]));
    await world.send([
      { ...first!, labels: { ...first!.labels, ...many } },
      { ...second!, labels: { ...second!.labels, modelName: "x".repeat(200) } },
    ]);
    expect(world.dropped).toEqual({ labels: 2 });
  });

  test.each([1, 2] as const)("a request of %i.0 with too many series is refused", async (version) => {
    const world = await started({ version });
    const series = Array.from({ length: 50_001 }, (_, index) => ({
      labels: { __name__: "x", index: String(index) },
      samples: [[T0, 1]] as const,
    }));
    await expect(world.send(series)).rejects.toMatchObject({ status: 413, retriable: false });
    await world.send(series.slice(1));
    expect(world.dropped).toEqual({ "other-series": 50_000 });
  });

  test("samples of the future are left out", async () => {
    const world = await started();
    await world.send(pushedPage({ atMillis: T0 + 3_600_000 }));
    expect(world.dropped).toEqual({ time: 5 });
  });

  test("a sender waits while the moments fill the memory, and goes on when the bus takes them", async () => {
    const world = await started({ limits: { memoryBytes: 30_000 } });
    world.refusal = new BusError("disk-full", "full", { retriable: true });
    const refused: number[] = [];
    for (let tick = 0; tick < 200; tick++)
      await world
        .send(pushedPage({ atMillis: T0 - 6_000_000 + tick * 30_000 }))
        .catch(({ status }: RefusedWrite) => refused.push(status));
    expect(new Set(refused)).toEqual(new Set([503]));
    world.refusal = undefined;
    await world.pass(11_000);
    await world.pass(11_000);
    await world.send(pushedPage({ atMillis: T0 + 20_000 }));
    await world.pass(11_000);
    expect(world.sent.at(-1)!.scrapedAtMillis).toBe(T0 + 20_000);
  });
});
