import fc from "fast-check";
import { compressSync } from "snappy";
import { describe, expect, test } from "vitest";
import { clearBatch, createBatch } from "../../../../../collectors/prometheus/receive/batch.ts";
import { createKnownSeriesTable } from "../../../../../collectors/prometheus/receive/known-series.ts";
import { createMomentHold } from "../../../../../collectors/prometheus/receive/moment-hold.ts";
import { createPushedTargets } from "../../../../../collectors/prometheus/receive/pushed-targets.ts";
import { RefusedWrite } from "../../../../../collectors/prometheus/receive/refused-write.ts";
import { createRoles } from "../../../../../collectors/prometheus/receive/roles.ts";
import { uncompressBlock } from "../../../../../collectors/prometheus/receive/snappy-block.ts";
import { createWriteV1, type WriteDecoder } from "../../../../../collectors/prometheus/receive/write-v1.ts";
import { createWriteV2 } from "../../../../../collectors/prometheus/receive/write-v2.ts";
import { pushedPage, T0 } from "../../../../support/receiver-world.ts";
import { ENDED, writeV1, writeV2, type WrittenSeries } from "../../../../support/remote-write.ts";
import { rounds } from "../../../../support/rounds.ts";

function decoderOf(version: 1 | 2): WriteDecoder {
  const table = createKnownSeriesTable();
  const targets = createPushedTargets({
    cluster: "prod",
    intervalMillis: 30_000,
    labels: { externalLabels: ["cluster"], replicaLabels: ["replica"] },
    mostTargets: 100,
    saved: { targets: {}, pods: {} },
    hold: createMomentHold(),
    onElected: () => {},
    hasRoom: () => true,
  });
  const limits = { labels: 64, labelBytes: 1_000 };
  const deps = { table, roles: createRoles(), place: targets.place, limits, aheadMillis: 0 };
  return version === 1 ? createWriteV1(deps) : createWriteV2(deps);
}

const bodyOf = { 1: writeV1, 2: writeV2 };

/** Decodes a body. Returns each kept sample as its name, its slot, its time and its value. */
function decoded(decode: WriteDecoder, body: Buffer): readonly unknown[] {
  const batch = createBatch();
  decode(body, batch, T0);
  return Array.from({ length: batch.size }, (_, index) => {
    const { role, layout, slot } = batch.places[index]!;
    return [role === "gpu" ? layout.slots[slot]!.name : role, slot, batch.times[index], batch.values[index]];
  });
}

describe.each([1, 2] as const)("the decoder of remote write %i.0", (version) => {
  test("reads times and values of every size", () => {
    const times = [0, 1, 127, 128, 2 ** 31, 2 ** 32 + 5, T0];
    const values = [0, -1, 1e300, 0.1, Infinity, 5e-324, ENDED];
    const [first] = pushedPage({ atMillis: T0 });
    const series: WrittenSeries = {
      labels: first!.labels,
      samples: times.flatMap((time) => values.map((value) => [time, value] as const)),
    };
    const found = decoded(decoderOf(version), bodyOf[version]([series]));
    expect(found).toEqual(series.samples.map(([time, value]) => ["DCGM_FI_DEV_GPU_UTIL", 0, time, value]));
  });

  test("does not mix up series whose labels begin alike", () => {
    const [first] = pushedPage({ atMillis: T0 });
    const more = { ...first!.labels, zone: "a" };
    const pages = [
      [{ labels: first!.labels, samples: first!.samples }],
      [{ labels: more, samples: first!.samples }],
      [
        { labels: first!.labels, samples: first!.samples },
        { labels: more, samples: first!.samples },
      ],
      [
        { labels: more, samples: first!.samples },
        { labels: more, samples: first!.samples },
        { labels: first!.labels, samples: first!.samples },
      ],
    ];
    const decode = decoderOf(version);
    const slots = pages.map((page) => decoded(decode, bodyOf[version](page)).map((sample) => (sample as number[])[1]));
    expect(slots).toEqual([[0], [1], [0, 1], [1, 1, 0]]);
  });

  test("finds the same series in random orders as a decoder without memory", () => {
    const page = [...pushedPage({ atMillis: T0, gpus: 6 }), ...pushedPage({ atMillis: T0, gpus: 3, instance: "b:1" })];
    const decode = decoderOf(version);
    const names = (body: Buffer, of: WriteDecoder): unknown[] => decoded(of, body).map((one) => (one as unknown[])[0]);
    fc.assert(
      fc.property(fc.shuffledSubarray(page), (some) => {
        const body = bodyOf[version](some);
        expect(names(body, decode)).toEqual(names(body, decoderOf(version)));
      }),
      { numRuns: rounds(200) },
    );
  });

  test("a cut or changed body is an error or a batch, and never a hang", () => {
    const body = bodyOf[version](pushedPage({ atMillis: T0, gpus: 4 }), [
      { name: "DCGM_FI_DEV_GPU_UTIL", help: "GPU utilization (in %).", type: 2 },
    ]);
    const decode = decoderOf(version);
    const batch = createBatch();
    const tried = (changed: Buffer): void => {
      clearBatch(batch);
      try {
        decode(changed, batch, T0);
      } catch (error) {
        if (!(error instanceof Error)) throw new TypeError("no error");
      }
      expect(batch.size).toBeLessThanOrEqual(changed.length);
    };
    for (let end = 0; end < body.length; end++) tried(body.subarray(0, end));
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const changed = Buffer.from(body);
        changed[at] = byte;
        tried(changed);
      }),
      { numRuns: rounds(20_000) },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => tried(Buffer.from(bytes))),
      { numRuns: rounds(20_000) },
    );
    // The decoder still works.
    clearBatch(batch);
    decode(body, batch, T0);
    expect(batch.size).toBe(9);
  });
});

describe("a compressed body", () => {
  const refusal = (block: Buffer, most = 1_000_000): number | undefined => {
    try {
      uncompressBlock(block, most);
      return undefined;
    } catch (error) {
      if (error instanceof RefusedWrite) return error.status;
      throw error;
    }
  };

  test("is the content of a snappy block", () => {
    const content = Buffer.from("a b c ".repeat(1_000));
    expect(uncompressBlock(compressSync(content), 10_000).equals(content)).toBe(true);
  });

  test("is refused before it needs memory, if its length is too large", () => {
    expect(refusal(compressSync(Buffer.alloc(2_000_000)))).toBe(413);
    // 4 GB in six bytes.
    expect(refusal(Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0]), 1e12)).toBe(400);
  });

  test("is refused if it is no snappy block", () => {
    for (const bytes of [[], [0x80], [5, 1, 2], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]])
      expect(refusal(Buffer.from(bytes))).toBe(400);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect([undefined, 400, 413]).toContain(refusal(Buffer.from(bytes)));
      }),
      { numRuns: rounds(5_000) },
    );
  });
});
