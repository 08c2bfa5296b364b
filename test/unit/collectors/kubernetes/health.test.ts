import { expect, it } from "vitest";
import { decodeWorkload } from "../../../../domain/messages/fact-message.ts";
import { objectFacts } from "../../../../scenarios/play/object-facts.ts";
import { container, pod } from "../../../support/kube-objects.ts";

const UUID = "GPU-11111111-2222-3333-4444-555555555555";

/** A pod with a device that has a health. */
function withHealth(health: string) {
  const resources = [{ resourceID: UUID, health }];
  const status = { containerStatuses: [{ allocatedResourcesStatus: [{ name: "nvidia.com/gpu", resources }] }] };
  return pod({ spec: { nodeName: "gpu-a", containers: [container({ "nvidia.com/gpu": 1 })] }, status });
}

it("a watcher keeps the time at which a device was unhealthy, which the pod's status has only meanwhile", () => {
  const states = ["Healthy", "Unhealthy", "Unhealthy", "Healthy", "Unhealthy"].map((health, index) => ({
    atMillis: 1000 * (index + 1),
    object: withHealth(health) as never,
  }));
  const { messages } = objectFacts({ cluster: "test", objects: states, resourceNames: new Map() }, 1);
  const evidence = messages.map(({ value }) => {
    const fact = decodeWorkload(value);
    if ("invalid" in fact) throw new Error(fact.invalid);
    return fact.evidence;
  });
  const device = { by: "status", uuid: UUID, units: 1 };
  expect(evidence).toEqual([
    [device],
    [{ ...device, isUnhealthy: true, unhealthy: [{ from: 2000 }] }],
    [{ ...device, unhealthy: [{ from: 2000, until: 4000 }] }],
    [{ ...device, isUnhealthy: true, unhealthy: [{ from: 2000, until: 4000 }, { from: 5000 }] }],
  ]);
});
