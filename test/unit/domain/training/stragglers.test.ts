import { describe, expect, it } from "vitest";
import { stragglersOf, type DeviceHour } from "../../../../domain/training/stragglers.ts";

/** Hours of a gang of eight GPUs with a clock of about 1,980 MHz; `change` changes a value of a GPU in an hour. */
function gang(
  count: number,
  change: (hour: number, gpu: number) => Partial<DeviceHour>,
  gpus = 8,
): readonly DeviceHour[] {
  return Array.from({ length: count }, (_, hour) =>
    Array.from({ length: gpus }, (_, gpu): DeviceHour => ({
      hour,
      node: "a",
      gpu: String(gpu),
      pod: `w-${gpu}`,
      clock: 1_980e6 + gpu * 1e6,
      activity: 0.9,
      ...change(hour, gpu),
    })),
  ).flat();
}

describe("stragglers", () => {
  it("are devices whose clock is far below the median in most hours; the gang is as slow as they are", () => {
    const hours = gang(10, (hour, gpu) => (gpu === 3 && hour < 6 ? { clock: 1_487_250_000 } : {}));
    const { stragglers, lostRatio } = stragglersOf(hours);
    // With 1,487.25 instead of 1,983 MHz among them, the median of the eight is (1,982 + 1,984) ÷ 2 = 1,983 MHz.
    expect(stragglers).toMatchObject([{ gpu: "3", pod: "w-3", measure: "clock", slowHours: 6, hours: 10 }]);
    expect(stragglers[0]!.ofMedian).toBeCloseTo(0.75, 12);
    expect(lostRatio).toBeCloseTo((6 * 0.25) / 10, 12);
  });

  it("are found by their activity if no clock shows them", () => {
    const { stragglers } = stragglersOf(gang(4, (_, gpu) => (gpu === 0 ? { clock: undefined, activity: 0.45 } : {})));
    expect(stragglers).toMatchObject([{ gpu: "0", measure: "activity", ofMedian: 0.5 }]);
  });

  it("are named once, by the clock if both are low", () => {
    const { stragglers } = stragglersOf(gang(4, (_, gpu) => (gpu === 0 ? { clock: 1e9, activity: 0.45 } : {})));
    expect(stragglers.map(({ measure }) => measure)).toEqual(["clock"]);
  });

  it("are none for a few hours, a small difference, a small gang, or a gang that is slow together", () => {
    const none = { stragglers: [], lostRatio: 0 };
    expect(stragglersOf(gang(20, (hour, gpu) => (gpu === 3 && hour < 9 ? { clock: 1e9 } : {})))).toEqual(none);
    expect(stragglersOf(gang(2, (_, gpu) => (gpu === 3 ? { clock: 1e9 } : {})))).toEqual(none);
    expect(stragglersOf(gang(9, (_, gpu) => (gpu === 3 ? { clock: 1_930e6 } : { clock: 1_980e6 })))).toEqual(none);
    expect(stragglersOf(gang(9, (_, gpu) => (gpu === 2 ? { clock: 1e9 } : {}), 3))).toEqual(none);
    expect(stragglersOf(gang(9, () => ({ clock: 1e9 })))).toEqual(none);
    expect(stragglersOf([])).toEqual(none);
  });

  it("count with the slowest of them in each hour", () => {
    const hours = gang(4, (_, gpu) => (gpu < 2 ? { clock: gpu === 0 ? 990e6 : 1_485e6 } : { clock: 1_980e6 }));
    const { stragglers, lostRatio } = stragglersOf(hours);
    expect(stragglers.map(({ gpu, ofMedian }) => [gpu, ofMedian])).toEqual([
      ["0", 0.5],
      ["1", 0.75],
    ]);
    expect(lostRatio).toBe(0.5);
  });
});
