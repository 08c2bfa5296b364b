import fc from "fast-check";
import { expect, it } from "vitest";
import { compare, ZERO } from "../../../../domain/exact/rational.ts";
import type { Claim, Held, ShareMeasures } from "../../../../domain/share/claim.ts";
import { gpuShares, type GpuShares } from "../../../../domain/share/gpu-shares.ts";
import type { GpuAt, GpuLayout, MigInstance } from "../../../../domain/share/layout.ts";
import { migProductOf } from "../../../../domain/share/mig-product.ts";
import { fitsOneMore } from "../../../../domain/share/mig-remainder.ts";
import { migShapeOf } from "../../../../domain/share/mig-shape.ts";
import { sumOf } from "../../../../domain/share/scale.ts";
import { textOf } from "./fraction-text.ts";
import { rounds } from "../../../support/rounds.ts";

const part = fc.constantFrom("0", "1", "2", "3");
const count = fc.integer({ min: 1, max: 5 });
const option = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
/** The object without undefined keys: an absent value is an absent key. */
const given = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;

const profile = fc.constantFrom(
  "1g.5gb",
  "1g.10gb",
  "2g.10gb",
  "3g.20gb",
  "4g.20gb",
  "7g.40gb",
  "1g.8gb+me",
  "<<<NULL>>>",
);
const instance = fc.record({ id: part, profile: option(profile), replicas: option(count) }).map(given);
const layout = fc.oneof(
  fc.constant({ kind: "whole" }),
  fc.record({ kind: fc.constant("mig"), instances: fc.array(instance, { maxLength: 6 }) }),
  fc.record({ kind: fc.constant("shared"), replicas: count }),
  fc.record({ kind: fc.constant("partitions"), count }),
) as fc.Arbitrary<GpuLayout>;
const gpu = fc
  .record({
    model: option(fc.constantFrom("NVIDIA-A100-SXM4-40GB", "NVIDIA A30", "NVIDIA H200", "nobody's")),
    memoryMiB: option(fc.integer({ min: 0, max: 200_000 })),
    layout,
  })
  .map(given) as fc.Arbitrary<GpuAt>;

const amounts = {
  memoryMiB: option(fc.nat(60_000)),
  memoryPercent: option(fc.nat(100)),
  coresPercent: option(fc.nat(100)),
};
const held = fc
  .oneof(
    fc.record({ what: fc.constant("whole"), reservedFor: option(count) }),
    fc.record({ what: fc.constant("instance"), instance: part, reservedFor: option(count) }),
    fc.record({ what: fc.constant("partition"), partition: part, reservedFor: option(count) }),
    fc.record({
      what: fc.constant("replicas"),
      count,
      activity: option(fc.bigInt(0n, 10n ** 13n)),
      part: option(part),
    }),
    fc.record({ what: fc.constant("vgpu"), ...amounts }),
    fc.record({ what: fc.constant("fraction"), ppm: option(fc.nat(1_000_000)), memoryMiB: amounts.memoryMiB }),
    fc.record({
      what: fc.constant("common"),
      count,
      setSize: fc.integer({ min: 5, max: 9 }),
      members: count,
      part: option(part),
    }),
  )
  .map(given) as fc.Arbitrary<Held>;
const claims: fc.Arbitrary<readonly Claim[]> = fc.array(
  fc.record({ holder: fc.constantFrom("a", "b", "c", "d"), held }),
  { maxLength: 7 },
);
const measures: fc.Arbitrary<ShareMeasures> = fc.record({
  migShare: fc.constantFrom("max", "compute", "memory"),
  sharedBy: fc.constantFrom("replica", "occupant", "usage"),
});

const freeOf = ({ free }: GpuShares) => [free.unallocated, free.stranded, free.unavailable];
const sumOfAll = (shares: GpuShares) => sumOf([...shares.held.map(({ share }) => share), ...freeOf(shares)]);

it("the shares of a GPU and its free parts add up to 1, and none is negative", () => {
  fc.assert(
    fc.property(gpu, claims, measures, (of, by, measure) => {
      const shares = gpuShares(of, by, measure);
      expect(textOf(sumOfAll(shares))).toBe("1");
      for (const share of [...freeOf(shares), ...shares.held.flatMap(({ raw, share: scaled }) => [raw, scaled])])
        expect(compare(share, ZERO)).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: rounds(1000) },
  );
});

it("the order of the claims changes nothing", () => {
  const permuted = claims.chain((list) =>
    fc.record({
      list: fc.constant(list),
      order: fc.shuffledSubarray([...list.keys()], { minLength: list.length }),
    }),
  );
  fc.assert(
    fc.property(gpu, permuted, measures, (of, { list, order }, measure) => {
      const [one, other] = [list, order.map((index) => list[index]!)].map((each) => gpuShares(of, each, measure));
      expect(other!.free).toEqual(one!.free);
      expect(other!.held).toEqual(order.map((index) => one!.held[index]));
    }),
  );
});

it("amounts that are divided by their sum keep their proportions, and none grows", () => {
  fc.assert(
    fc.property(claims, measures, (by, measure) => {
      const { held: shares, isScaled } = gpuShares({ layout: { kind: "whole" } }, by, measure);
      for (const one of shares) {
        expect(compare(one.share, one.raw)).toBeLessThanOrEqual(0);
        for (const other of shares)
          expect(one.share.num * other.raw.num * one.raw.den * other.share.den).toBe(
            other.share.num * one.raw.num * other.raw.den * one.share.den,
          );
      }
      const isMore = compare(sumOf(shares.map(({ raw }) => raw)), sumOf(shares.map(({ share }) => share))) > 0;
      expect(isScaled).toBe(isMore);
    }),
  );
});

it("a GPU in MIG mode has a stranded part only if no profile fits, and then its whole remainder is stranded", () => {
  const instances = fc.uniqueArray(instance, { selector: ({ id }) => id, minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(instances, measures, (listed, measure) => {
      const model = "NVIDIA-A100-SXM4-40GB";
      const unshared = listed.map(({ id, profile: name }): MigInstance => given({ id, profile: name ?? "" }));
      const of: GpuAt = { model, layout: { kind: "mig", instances: unshared } };
      const found = migProductOf(model);
      const shapes = listed.map(({ profile: name }) => migShapeOf(name, found));
      const everyone = listed.map(({ id }): Claim => ({ holder: id, held: { what: "instance", instance: id } }));
      const { free } = gpuShares(of, everyone, measure);
      const [mustBeZero] = fitsOneMore(found.product, shapes) ? [free.stranded] : [free.unallocated];
      expect(textOf(mustBeZero)).toBe("0");
    }),
  );
});
