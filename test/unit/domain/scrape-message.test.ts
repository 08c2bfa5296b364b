import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createScrapeDecoder, encodeScrape, encodeStable } from "../../../domain/messages/scrape-message.ts";
import { rounds } from "../../support/rounds.ts";

const ORIGIN = { cluster: "prod", node: "gpu-a", target: "http://gpu-a:9400/metrics", collector: "c-0" };
const SHAPE = {
  exporter: "dcgm-exporter",
  columns: ["gpu_utilization_ratio", "DCGM_FI_DEV_OTHER"],
  devices: [
    { gpu: "0", uuid: "GPU-0" },
    { gpu: "1", uuid: "GPU-1", repeatsGpu: true as const },
  ],
};
const MOMENT = {
  epoch: 1_770_000_000_000,
  sequence: 7,
  scrapedAtMillis: 1_770_000_030_000,
  intervalMillis: 30_000,
  durationMicros: 4321,
  dropped: {},
};

describe("the message of a scrape", () => {
  it("is decoded to the same scrape, with values equal to the last bit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double(), { minLength: 4, maxLength: 4 }),
        fc.nat(),
        fc.option(fc.record({ sentinel: fc.nat(9) }), { nil: undefined }),
        (numbers, sequence, dropped) => {
          const values = Float64Array.from(numbers);
          const moment = { ...MOMENT, sequence, dropped: dropped ?? {} };
          const bytes = encodeScrape(encodeStable(ORIGIN, SHAPE), moment, values);
          // Messages come as views into larger buffers.
          const scrape = createScrapeDecoder().decode(Buffer.concat([Buffer.alloc(3), bytes]).subarray(3));
          expect(scrape).toMatchObject({ ...ORIGIN, ...moment });
          if ("invalid" in scrape) throw new Error(scrape.invalid);
          expect(scrape.shape).toMatchObject(SHAPE);
          expect([...scrape.values]).toEqual(numbers);
        },
      ),
    );
  });

  it("contains the reason of a failed scrape", () => {
    const failure = { reason: "timeout", detail: "no complete answer within the timeout" } as const;
    const empty = { exporter: "", columns: [], devices: [] };
    const bytes = encodeScrape(encodeStable(ORIGIN, empty), { ...MOMENT, failure }, new Float64Array(0));
    expect(createScrapeDecoder().decode(bytes)).toMatchObject({ failure, shape: empty });
  });

  it("gives one shape object for scrapes of the same shape, so that consumers can cache results for it", () => {
    const decoder = createScrapeDecoder();
    const decode = () => {
      const scrape = decoder.decode(encodeScrape(encodeStable(ORIGIN, SHAPE), MOMENT, new Float64Array(4)));
      if ("invalid" in scrape) throw new Error(scrape.invalid);
      return scrape.shape;
    };
    expect(decode()).toBe(decode());
  });

  it("keeps different shapes for nodes that differ only in the numbers of their names", () => {
    const decoder = createScrapeDecoder();
    const messages = Array.from({ length: 2_000 }, (_, number) => {
      const node = `node-${String(number).padStart(5, "0")}`;
      const origin = { ...ORIGIN, node, target: `http://${node}:9400/metrics` };
      return encodeScrape(encodeStable(origin, SHAPE), MOMENT, new Float64Array(4));
    });
    const shapes = (): unknown[] =>
      messages.map((bytes) => {
        const scrape = decoder.decode(bytes);
        return "invalid" in scrape ? scrape.invalid : scrape.shape;
      });
    const first = shapes();
    expect(shapes().filter((shape, index) => shape !== first[index])).toEqual([]);
  });

  it("is refused with a reason, without an exception, if the bytes are not a message", () => {
    const good = encodeScrape(encodeStable(ORIGIN, SHAPE), MOMENT, new Float64Array(4));
    const decoder = createScrapeDecoder();
    expect(decoder.decode(new Uint8Array(10))).toEqual({ invalid: "10 bytes are shorter than a header" });
    fc.assert(
      fc.property(
        fc.nat(good.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.nat(good.length - 1),
        (at, flip, cut) => {
          const broken = good.slice();
          broken[at] = broken[at]! ^ flip;
          expect(() => decoder.decode(broken)).not.toThrow();
          expect(decoder.decode(good.slice(0, cut))).toHaveProperty("invalid");
        },
      ),
      { numRuns: rounds(2000) },
    );
  });
});
