import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { murmur2, partitionOf } from "../../../../runtime/bus/partitioner.ts";

describe("the partitioner", () => {
  // The vectors of Kafka's own UtilsTest.testMurmur2 (clients/src/test/java/org/apache/kafka/common/utils/UtilsTest.java).
  it.each([
    ["21", -973932308],
    ["foobar", -790332482],
    ["a-little-bit-long-string", -985981536],
    ["a-little-bit-longer-string", -1486304829],
    ["lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971],
    ["abc", 479470107],
  ])("hashes %s as Kafka's Java client does", (text, hash) => {
    expect(murmur2(Buffer.from(text))).toBe(hash);
  });

  it("hashes bytes in the middle of a buffer like the same bytes alone", () => {
    const whole = Buffer.from("xxfoobarxx");
    expect(murmur2(whole.subarray(2, 8))).toBe(-790332482);
  });

  it("puts every key into one of the partitions, the same one each time", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 500 }), (key, partitions) => {
        const partition = partitionOf(key, partitions);
        expect(partition).toBeGreaterThanOrEqual(0);
        expect(partition).toBeLessThan(partitions);
        expect(partitionOf(key, partitions)).toBe(partition);
      }),
    );
  });

  it("spreads a fleet's node names over all partitions", () => {
    const counts = Array.from({ length: 12 }, () => 0);
    for (let node = 0; node < 1200; node += 1) {
      const partition = partitionOf(`prod/gpu-node-${node}`, 12);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(60);
  });
});
