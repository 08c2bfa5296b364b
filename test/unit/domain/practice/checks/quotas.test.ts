import { describe, expect, it } from "vitest";
import { quotaAboveCapacity, quotaUnused } from "../../../../../domain/practice/checks/quotas.ts";
import { clusterFact, GOOD_CLUSTER, practicesOf } from "../../../../support/practices.ts";

const CLASS = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices";

describe("a quota of a DeviceClass", () => {
  const facts = practicesOf({
    cluster: [
      ...GOOD_CLUSTER.filter(({ kind }) => kind !== "ResourceQuota"),
      clusterFact("ResourceQuota", "devices", { hard: { [CLASS]: 8 }, used: {} }, "ml"),
    ],
    grantUses: [{ cluster: "test", uid: "ResourceQuota/ml/devices", resource: CLASS, most: 3 }],
  });

  it("is not compared with the capacity of nodes, which do not have its devices", () => {
    expect(quotaAboveCapacity.check(facts)).toEqual([]);
  });

  it("is lowered under its own key: another key would be a second limit beside it", () => {
    expect(quotaUnused.check(facts)[0]!.fixes).toEqual([
      `kubectl patch resourcequota devices --namespace ml --type merge --patch '{"spec":{"hard":{"${CLASS}":"3"}}}'`,
    ]);
  });
});
