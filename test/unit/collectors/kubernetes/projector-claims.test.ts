import { describe, expect, it } from "vitest";
import { pod } from "../../../support/kube-objects.ts";
import { NOW, projecting } from "../../../support/kubernetes/projecting.ts";

const CLAIMS = "resourceclaims.resource.k8s.io";

const claim = (name: string, driver: string) => ({
  apiVersion: "resource.k8s.io/v1",
  kind: "ResourceClaim",
  metadata: { name, namespace: "research", uid: `claim-${name}` },
  status: { allocation: { devices: { results: [{ request: "device", driver, pool: "node-1", device: "device-0" }] } } },
});
const claiming = (claims: readonly string[], limits: Readonly<Record<string, unknown>> = {}) =>
  pod({
    limits,
    spec: {
      nodeName: "node-1",
      containers: [{ name: "main", resources: { limits, requests: limits } }],
      resourceClaims: claims.map((name) => ({ name, resourceClaimName: name })),
    },
  });

describe("a claim that becomes known after its pod", () => {
  it("is no request of the pod if it is for other devices", async () => {
    const { workloads, take } = projecting();
    const gpu = { kind: "gpu", resource: "nvidia.com/gpu", count: 1 };
    await take("pods", claiming(["network"], { "nvidia.com/gpu": 1 }));
    expect(workloads.at(-1)!.asks).toEqual([gpu, { kind: "claim", claim: "network" }]);
    await take(CLAIMS, claim("network", "nic.example.com"), NOW + 1000);
    expect(workloads.at(-1)).toMatchObject({ asks: [gpu], seenAtMillis: NOW + 1000 });
    expect(workloads).toHaveLength(2);
  });

  it("ends the fact of a pod that then requests no GPU", async () => {
    const { workloads, take } = projecting();
    await take("pods", claiming(["network"]));
    await take(CLAIMS, claim("network", "nic.example.com"), NOW + 1000);
    expect(workloads.at(-1)!.end).toEqual({ atMillis: NOW + 1000, inferred: false });
    await take("pods", claiming(["network"]));
    expect(workloads).toHaveLength(2);
  });

  it("is reserved for the pods that name it if it is a gang's, in any order of arrival", async () => {
    const { others, take } = projecting();
    const { status, ...of } = claim("ring", "gpu.nvidia.com");
    const gang = { apiGroup: "scheduling.k8s.io", resource: "podgroups", name: "ring", uid: "g-1" };
    const reserved = (): readonly (readonly string[])[] =>
      others.map((fact) => (fact.kind === "ResourceClaim" ? fact.body.reservedFor : []));
    const member = (uid: string) => {
      const made = claiming(["ring"]);
      return { ...made, metadata: { ...made.metadata, name: uid, uid } };
    };
    await take("pods", member("w-0"));
    await take(CLAIMS, { ...of, status: { ...status, reservedFor: [gang] } });
    // Pods of one list are seen at the same time. Each fact is newer than the one before.
    for (const uid of ["w-1", "w-2"]) await take("pods", member(uid));
    expect(reserved()).toEqual([["w-0"], ["w-0", "w-1"], ["w-0", "w-1", "w-2"]]);
    expect(others.map(({ seenAtMillis }) => seenAtMillis - NOW)).toEqual([0, 1, 2]);
    await take("pods", member("w-1"), NOW + 3000);
    await take(CLAIMS, { ...of, status: { ...status, reservedFor: [gang] } }, NOW + 4000);
    expect(reserved()).toHaveLength(3);
  });

  it("changes nothing if it is for GPUs, or if another pod has it", async () => {
    const { workloads, take } = projecting();
    await take("pods", claiming(["training"]));
    await take(CLAIMS, claim("training", "gpu.nvidia.com"));
    await take(CLAIMS, claim("other", "nic.example.com"));
    expect(workloads).toHaveLength(1);
  });
});
