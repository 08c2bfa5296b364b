import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { moments, reserved } from "../../../../collectors/kubernetes/projection/pod/moments.ts";
import type { ContainerObject, PodSpecObject } from "../../../../collectors/kubernetes/projection/pod-object.ts";
import { container, sidecar } from "../../../support/kube-objects.ts";

const amountsOf = (one: ContainerObject): ReadonlyMap<string, number> =>
  new Map(Object.entries(one.resources?.limits ?? {}).map(([name, amount]) => [name, Number(amount)]));

function gpus(spec: PodSpecObject): number {
  return reserved(moments(spec), amountsOf).get("gpu") ?? 0;
}

/** Kubernetes' own rule as in its documentation, step by step. */
function byTheBook(inits: readonly (readonly [gpus: number, sidecar: boolean])[], mains: readonly number[]): number {
  let started = 0;
  let most = 0;
  for (const [amount, isSidecar] of inits) {
    most = Math.max(most, started + amount);
    if (isSidecar) started += amount;
  }
  return Math.max(most, started + mains.reduce((sum, amount) => sum + amount, 0));
}

describe("the reserved GPUs of a pod", () => {
  it.each<readonly [string, PodSpecObject, number]>([
    ["the sum of its containers", { containers: [container({ gpu: 1 }), container({ gpu: 2 })] }, 3],
    [
      "the largest init container, if that is more",
      { initContainers: [container({ gpu: 4 }), container({ gpu: 2 })], containers: [container({ gpu: 1 })] },
      4,
    ],
    ["its sidecars as well", { initContainers: [sidecar({ gpu: 1 })], containers: [container({ gpu: 2 })] }, 3],
    [
      "an init container with the sidecars before it",
      { initContainers: [sidecar({ gpu: 1 }), container({ gpu: 4 })], containers: [container({ gpu: 1 })] },
      5,
    ],
    [
      "an init container without the sidecars after it",
      { initContainers: [container({ gpu: 4 }), sidecar({ gpu: 1 })], containers: [container({ gpu: 1 })] },
      4,
    ],
    ["nothing without containers", {}, 0],
  ])("are %s", (_, spec, expected) => {
    expect(gpus(spec)).toBe(expected);
  });

  it("are the result of Kubernetes' rule for any pod", () => {
    const init = fc.tuple(fc.nat(8), fc.boolean());
    fc.assert(
      fc.property(fc.array(init, { maxLength: 8 }), fc.array(fc.nat(8), { maxLength: 8 }), (inits, mains) => {
        const spec = {
          initContainers: inits.map(([gpu, always]) => (always ? sidecar({ gpu }) : container({ gpu }))),
          containers: mains.map((gpu) => container({ gpu })),
        };
        expect(gpus(spec)).toBe(byTheBook(inits, mains));
      }),
    );
  });

  it("are counted for each resource separately", () => {
    const spec = { initContainers: [container({ a: 3, b: 1 })], containers: [container({ a: 1, b: 2 })] };
    expect([...reserved(moments(spec), amountsOf)]).toEqual([
      ["a", 3],
      ["b", 2],
    ]);
  });
});
