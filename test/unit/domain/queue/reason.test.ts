import { describe, expect, it } from "vitest";
import { waitReason } from "../../../../domain/queue/reason.ts";

const of = (reason: string, message: string, queue = "") => waitReason({ reason, message, queue, devices: 8 });

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
