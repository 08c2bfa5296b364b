import fc from "fast-check";
import { expect, it } from "vitest";
import { NOON } from "../../../../support/facts.ts";
import { gpu, joinWorld, labeled, shapeOf, type JoinWorld } from "../../../../support/join-world.ts";
import { rounds } from "../../../../support/rounds.ts";

const SHAPES = [
  shapeOf([gpu(0, labeled("a")), gpu(1)]),
  shapeOf([gpu(0), gpu(1, labeled("a"))]),
  shapeOf([gpu(0, labeled("a")), gpu(0, labeled("b")), gpu(1)]),
  shapeOf([gpu(0, { ...labeled("b"), podUid: "uid-b" }), gpu(1, { hpcJob: "7" })]),
  shapeOf([gpu(0), gpu(1)]),
];
const second = fc.integer({ min: -5, max: 5 }).map((seconds) => NOON + seconds * 1_000);
const node = fc.constantFrom("gpu-a", "gpu-a", "gpu-b");
const name = fc.constantFrom("a", "b");

type Step = (world: JoinWorld) => void;

const factStep: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({
      name,
      node,
      from: second,
      until: fc.option(second, { nil: undefined }),
      gone: fc.boolean(),
      lives: fc.nat(1),
    })
    .map((one): Step => {
      const times = { created: one.from, scheduled: one.from };
      const finished = one.until === undefined ? {} : { finished: one.until };
      const end = one.gone && one.until !== undefined ? { end: { atMillis: one.until, inferred: false } } : {};
      const uid = one.lives === 0 ? `uid-${one.name}` : `uid-${one.name}-again`;
      return (world) => world.pod(one.name, { uid, node: one.node, times: { ...times, ...finished }, ...end });
    }),
  fc.record({ pods: fc.subarray(["a", "b"]), device: fc.constantFrom("gpu-0", "gpu-1") }).map(
    ({ pods, device }): Step =>
      (world) =>
        world.claim("one", pods, [device]),
  ),
  fc.record({ uuid: fc.constantFrom("GPU-0", "GPU-1"), of: fc.constantFrom("", "gpu-a") }).map(({ uuid, of }): Step => {
    const body = { driver: "gpu.nvidia.com", pool: "gpu-a", node: of, devices: [{ name: "gpu-0", uuid }] };
    return (world) => world.slice([], { body });
  }),
);
const joined = fc.record({ shape: fc.nat(SHAPES.length - 1), at: second, node });

it("a cached join of a shape equals a fresh join, after any facts in between", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(factStep, joined, joined), { minLength: 20, maxLength: 60, size: "max" }),
      (steps) => {
        const [remembering, anew] = [joinWorld(), joinWorld()];
        // Each node has its own page in the decoder's form: the same object for every scrape.
        const pages = new Map(["gpu-a", "gpu-b"].map((of) => [of, SHAPES.map((shape) => ({ ...shape }))]));
        for (const step of steps) {
          if (typeof step === "function") {
            for (const world of [remembering, anew]) step(world);
            continue;
          }
          const page = pages.get(step.node)![step.shape]!;
          const found = remembering.holderTexts(page, step.at, step.node);
          expect(found).toEqual(anew.holderTexts({ ...page }, step.at, step.node));
        }
      },
    ),
    { numRuns: rounds(1_000) },
  );
});
