import { describe, expect, it } from "vitest";
import { formatAmount } from "../../../../../domain/exact/units.ts";
import type { InventoryFact } from "../../../../../domain/inventory.ts";
import { cpuOrMemoryGone } from "../../../../../domain/practice/checks/cpu-and-memory.ts";
import type { WorkloadFact } from "../../../../../domain/workload.ts";
import { goodNode, goodPod, gpusWith, practicesOf, spend } from "../../../../support/practices.ts";

const GIB = 1_073_741_824;

/** A pod of its own Job on the node, with whole GPUs, cores and GiB of memory. */
function podWith(name: string, gpus: number, cores: number, gib: number, given: Partial<WorkloadFact> = {}) {
  return goodPod(name, {
    workload: { kind: "Job", name },
    asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: gpus }],
    compute: { cpuRequestMillicores: cores * 1000, memoryRequestBytes: gib * GIB },
    ...given,
  });
}

/** A node of 8 GPUs, 96 cores and 1024 GiB: the fair part is 12 cores and 128 GiB, the half 6 and 64. Its free time has cost 30. */
function findingsOf(pods: readonly WorkloadFact[], node: Partial<InventoryFact> = {}) {
  return cpuOrMemoryGone.check(
    practicesOf({
      pods,
      nodes: [goodNode("gpu-a", node)],
      nodeSpends: [{ cluster: "test", node: "gpu-a", ...spend("80", { unallocated: "30" }) }],
    }),
  );
}

const others = (cores: number, gib = 0) => ({
  others: { pods: 3, names: [], requested: { cpuMillicores: cores * 1000, memoryBytes: gib * GIB } },
});

describe("free GPUs without CPU or memory", () => {
  it("are found from less than half of a fair part on", () => {
    expect(findingsOf([podWith("a", 7, 90, 64)])).toEqual([]);
    const [finding] = findingsOf([podWith("a", 7, 90.001, 64)]);
    expect(finding!.objects[0]!.detail).toBe(
      "1 of 1 free GPUs without CPU: Job ml/a with 7 GPUs has 90 CPU (fair: 84)",
    );
    expect(formatAmount(finding!.atStake!)).toBe("30");
    expect(findingsOf([podWith("a", 7, 8, 960)])).toEqual([]);
    expect(findingsOf([podWith("a", 7, 8, 961)])).toHaveLength(1);
  });

  it("have the part of the node's free time at stake that they are of all free GPUs", () => {
    const [finding] = findingsOf([podWith("a", 2, 12, 768)]);
    expect(finding!.objects[0]!.detail).toBe(
      "2 of 6 free GPUs without memory: Job ml/a with 2 GPUs has 768Gi memory (fair: 256Gi)",
    );
    expect(formatAmount(finding!.atStake!)).toBe("10");
    expect(findingsOf([podWith("a", 2, 12, 640)])).toEqual([]);
  });

  it("name at most three holders of more than their fair part, the largest surplus first", () => {
    const [finding] = findingsOf(
      [podWith("a", 1, 20, 1), podWith("b", 1, 30, 1), podWith("c", 1, 12, 1), podWith("d", 1, 14, 1)],
      others(17),
    );
    expect(finding!.objects[0]!.detail).toBe(
      "4 of 4 free GPUs without CPU: Job ml/b with 1 GPU has 30 CPU (fair: 12), 3 pods without GPUs have 17 CPU, Job ml/a with 1 GPU has 20 CPU (fair: 12)",
    );
  });

  it("are mended in the template of the largest holder, with all resources that are scarce", () => {
    const [finding] = findingsOf([podWith("a", 4, 90, 1000), podWith("b", 1, 1, 1)]);
    expect(finding!.fixes).toEqual([
      `kubectl get pods -A -o wide --field-selector spec.nodeName=gpu-a
# in the pod template of Job ml/a
resources: { requests: { cpu: "48", memory: 512Gi }, limits: { memory: 512Gi } }   # of all containers of the pod together`,
    ]);
  });

  it("are mended by a look at the pods without GPUs if these hold the most", () => {
    const [finding] = findingsOf([podWith("a", 4, 50, 4)], others(30));
    expect(finding!.objects[0]!.detail).toBe(
      "2 of 4 free GPUs without CPU: 3 pods without GPUs have 30 CPU, Job ml/a with 4 GPUs has 50 CPU (fair: 48)",
    );
    expect(finding!.fixes).toEqual(["kubectl get pods -A -o wide --field-selector spec.nodeName=gpu-a"]);
    const [small] = findingsOf([podWith("a", 7, 88, 4)], others(5.9));
    expect(small!.objects[0]!.detail).not.toContain("without GPUs");
  });

  it("do not exist where pods hold all GPUs, or all healthy ones", () => {
    expect(findingsOf([podWith("a", 8, 96, 1024)])).toEqual([]);
    expect(findingsOf([podWith("a", 7, 96, 1024)], { allocatable: { "nvidia.com/gpu": 7 } })).toEqual([]);
    expect(findingsOf([podWith("a", 7, 96, 1024)], { allocatable: { "nvidia.com/gpu": 8 } })).toHaveLength(1);
  });

  it("are left out where facts are missing, or GPUs are shared, divided or claimed", () => {
    const full = podWith("a", 7, 96, 1024);
    const { compute: _none, ...old } = podWith("b", 0, 0, 0);
    const { compute: _gone, ...oldNode } = goodNode("gpu-a");
    const claims = { asks: [{ kind: "claim", claim: "gpu" }] as const };
    expect(findingsOf([full, old])).toEqual([]);
    expect(cpuOrMemoryGone.check(practicesOf({ pods: [full], nodes: [oldNode] }))).toEqual([]);
    expect(findingsOf([full, podWith("b", 0, 0, 0, claims)])).toEqual([]);
    expect(findingsOf([full], { gpus: gpusWith({ sharing: "mps", replicas: 2 }) })).toEqual([]);
    expect(findingsOf([full], { gpus: gpusWith({ partitions: 4 }) })).toEqual([]);
    const mig = { strategy: "mixed", profiles: { "1g.10gb": 7 } } as const;
    expect(findingsOf([full], { gpus: gpusWith({ mig }) })).toEqual([]);
    expect(findingsOf([full], { compute: { cpuMillicores: 0, memoryBytes: 0 } })).toEqual([]);
  });

  it("are left out on a cordoned node, and count pods that are bound and not yet running", () => {
    const full = podWith("a", 7, 96, 8, { phase: "Pending" });
    expect(findingsOf([full])).toHaveLength(1);
    expect(findingsOf([full], { cordonedSince: 1 })).toEqual([]);
    expect(findingsOf([podWith("a", 7, 96, 8, { node: "" })])).toEqual([]);
  });
});
