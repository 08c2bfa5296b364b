import { expect, it } from "vitest";
import { cloudMachineOf } from "../../../../domain/invoice/machine-id.ts";

it.each([
  ["aws:///us-east-1a/i-0f00", { cloud: "aws", machine: "i-0f00" }],
  ["gce://shop-prod/us-central1-a/gpu-pool-x1", { cloud: "gcp", machine: "shop-prod/us-central1-a/gpu-pool-x1" }],
  [
    "azure:///subscriptions/AB/resourceGroups/MC_x/providers/Microsoft.Compute/virtualMachineScaleSets/gpu/virtualMachines/3",
    {
      cloud: "azure",
      machine:
        "/subscriptions/ab/resourcegroups/mc_x/providers/microsoft.compute/virtualmachinescalesets/gpu/virtualmachines/3",
    },
  ],
  ["oci://ocid1.instance.oc1.phx.abc", { cloud: "oci", machine: "ocid1.instance.oc1.phx.abc" }],
  ["ocid1.instance.oc1.phx.abc", { cloud: "oci", machine: "ocid1.instance.oc1.phx.abc" }],
  ["kind://docker/kind/worker", { cloud: "other", machine: "kind://docker/kind/worker" }],
  ["", undefined],
])("the machine of %j is the one that the cloud's export names", (providerId, machine) => {
  expect(cloudMachineOf(providerId)).toEqual(machine);
});
