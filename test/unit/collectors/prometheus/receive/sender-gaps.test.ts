import { expect, test } from "vitest";
import { senderGaps } from "../../../../../collectors/prometheus/receive/sender-gaps.ts";
import { pushedPage, startReceiverWorld, T0 } from "../../../../support/receiver-world.ts";

test("a sender without up, nodes and metadata leaves out three parts", async () => {
  const world = await startReceiverWorld();
  const gaps = (): string[] =>
    senderGaps(world.receiver.targets.values(), world.receiver.families).map(({ what }) => what);
  const series = pushedPage({ atMillis: T0, gpus: 1 })
    .slice(0, 1)
    .map(({ labels, samples }) => {
      const { node: _, ...rest } = labels;
      return { labels: { ...rest, __name__: "DCGM_FI_DEV_POWER_VIOLATION" }, samples };
    });
  expect(gaps()).toEqual([]);
  await world.send(series);
  await world.pass(6_000);
  expect(gaps()).toEqual(["up", "node", "help"]);
  await world.receiver.stop();
});

test("a sender of all parts leaves out nothing", async () => {
  const world = await startReceiverWorld();
  await world.send(pushedPage({ atMillis: T0 }));
  await world.pass(6_000);
  expect(senderGaps(world.receiver.targets.values(), world.receiver.families)).toEqual([]);
  await world.receiver.stop();
});

test.each([
  ["a name of a node in its instance", "gpu-node-7", []],
  ["the address of an exporter in its instance", "10.0.0.7", ["node"]],
])("a sender with %s", async (_, instance, expected) => {
  const world = await startReceiverWorld();
  const series = pushedPage({ atMillis: T0, instance }).map(({ labels, samples }) => {
    const { node: __, ...rest } = labels;
    return { labels: rest, samples };
  });
  await world.send(series);
  await world.pass(70_000);
  const gaps = senderGaps(world.receiver.targets.values(), world.receiver.families);
  expect(gaps.map(({ what }) => what)).toEqual(expected);
  await world.receiver.stop();
});
