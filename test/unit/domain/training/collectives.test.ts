import { describe, expect, it } from "vitest";
import { collectivesOf, type CollectiveHour } from "../../../../domain/training/collectives.ts";
import { HOUR_MILLIS } from "../../../../domain/time.ts";

const REDUCE = { operation: "AllReduce", size: "4-5GB", nodes: 2, ranks: 8 };

/** Returns an hour of eight GPUs on two nodes, with the time of each. */
function hourOf(hour: number, micros: readonly (number | undefined)[], more: Partial<CollectiveHour> = {}) {
  return micros.map((time, rank): CollectiveHour => {
    const node = rank < 4 ? "gpu-a" : "gpu-b";
    const gbs = time === undefined ? undefined : 40_000 / time;
    return { hour: hour * HOUR_MILLIS, node, pod: "", gpu: `GPU${rank % 4}`, ...REDUCE, gbs, micros: time, ...more };
  });
}
const EVEN = Array.from({ length: 8 }, () => 1000);
const withTime = (rank: number, micros: number): readonly number[] =>
  EVEN.map((time, at) => (at === rank ? micros : time));

describe("the collectives of a gang", () => {
  it("have the median bandwidth over GPUs and hours, and the hour with the lowest one", () => {
    const hours = [
      hourOf(0, EVEN),
      hourOf(
        1,
        EVEN.map(() => 1250),
      ),
      hourOf(2, EVEN),
    ].flat();
    expect(collectivesOf(hours)).toEqual([
      { ...REDUCE, gpus: 8, gbs: 40, lowest: { hour: HOUR_MILLIS, gbs: 32 }, late: [] },
    ]);
  });

  it("name a GPU whose time is far below the median in at least three hours and half of its hours", () => {
    const late = (hours: number, of: number) =>
      collectivesOf(
        Array.from({ length: of }, (_, hour) => hourOf(hour, hour < hours ? withTime(5, 750) : EVEN)).flat(),
      )[0]!.late;
    expect(late(3, 6)).toEqual([{ node: "gpu-b", pod: "", gpu: "GPU1", ofMedian: 0.75, lateHours: 3, hours: 6 }]);
    expect([late(2, 2), late(3, 7)]).toEqual([[], []]);
    // A GPU with more time than the others waits itself. One that is 3 % below is not late.
    expect(collectivesOf([0, 1, 2].flatMap((hour) => hourOf(hour, withTime(5, 2000))))[0]!.late).toEqual([]);
    expect(collectivesOf([0, 1, 2].flatMap((hour) => hourOf(hour, withTime(5, 970))))[0]!.late).toEqual([]);
    expect(collectivesOf([0, 1, 2].flatMap((hour) => hourOf(hour, withTime(5, 969))))[0]!.late).toHaveLength(1);
  });

  it("are of each operation, size and communicator, the longest operations first, at most eight", () => {
    const sizes = Array.from({ length: 9 }, (_, index) =>
      hourOf(
        0,
        EVEN.map(() => 100 * (index + 1)),
        { size: `${index}MB` },
      ),
    );
    expect(collectivesOf(sizes.flat()).map(({ size }) => size)).toEqual(
      [8, 7, 6, 5, 4, 3, 2, 1].map((index) => `${index}MB`),
    );
    const pairs = [hourOf(0, EVEN), hourOf(0, EVEN, { operation: "Send", ranks: 2 })].flat();
    expect(collectivesOf(pairs).map(({ operation, ranks }) => [operation, ranks])).toEqual([
      ["AllReduce", 8],
      ["Send", 2],
    ]);
  });

  it("are left out without a bandwidth, and have no late GPU without times", () => {
    expect(collectivesOf(hourOf(0, EVEN, { gbs: undefined }))).toEqual([]);
    expect(collectivesOf(hourOf(0, EVEN, { micros: undefined }))).toMatchObject([{ gbs: 40, late: [] }]);
    expect(collectivesOf([])).toEqual([]);
  });
});
