import { describe, expect, it } from "vitest";
import { waitReason } from "../../../../domain/queue/reason.ts";

const of = (reason: string, message: string, queue = "", pods = 1) =>
  waitReason({ reason, message, queue, pods, devices: 8 * pods });

describe("the reason of a waiting pod", () => {
  it("names the resource that is missing and what would end the wait", () => {
    const message =
      "0/20 nodes are available: 12 Insufficient nvidia.com/gpu, 8 node(s) had untolerated taint {pool: h100}. preemption: 0/20 nodes are available.";
    expect(of("Unschedulable", message)).toEqual({
      why: "no node has enough free nvidia.com/gpu",
      endsWith: "a node with 8 free GPUs",
    });
    expect(of("Unschedulable", "0/3 nodes are available: 3 Insufficient memory.")).toEqual({
      why: "no node has enough free memory",
      endsWith: "a node with free memory",
    });
  });

  it("counts the GPUs of a gang over its pods, because a gang does not need them on one node", () => {
    const message = "0/19 nodes are available: 19 Insufficient nvidia.com/gpu.";
    expect(of("Unschedulable", message, "", 7).endsWith).toBe("nodes with 56 free GPUs for its 7 pods");
  });

  it("has the reasons of KAI and HAMi in words", () => {
    const refused = (part: string): string => `0/19 nodes are available: 19 ${part}.`;
    expect(of("Unschedulable", refused("node(s) didn't have enough resources: GPUs"))).toEqual({
      why: "no node has enough free GPUs",
      endsWith: "a node with enough free GPUs or parts of a GPU",
    });
    expect(of("Unschedulable", refused("node unregistered"))).toEqual({
      why: "HAMi has no GPU of the nodes",
      endsWith: "a node whose GPUs HAMi’s device plugin has registered",
    });
  });

  it("names the queue of a gated pod", () => {
    expect(of("SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates", "team-queue")).toEqual({
      why: "held back by a scheduling gate",
      endsWith: "quota in the queue team-queue",
    });
  });

  it("is Kubernetes' own word if the message is unknown", () => {
    expect(of("Unschedulable", "the plugin of a vendor refused")).toEqual({ why: "Unschedulable", endsWith: "" });
    expect(of("Unschedulable", "0/2 nodes are available: 2 node(s) were unschedulable.").why).toBe(
      "nodes are cordoned",
    );
  });
});
