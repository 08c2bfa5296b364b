import { describe, expect, it } from "vitest";
import { rational } from "../../../../../domain/exact/rational.ts";
import { costText, kindsOf, lineOf, linesOf, resultOf, type NamedCells } from "../../../../support/invoice/rows.ts";

/** The columns that FOCUS 1.0 has. Later versions add some. */
const BASE: NamedCells = {
  BilledCost: "0",
  EffectiveCost: "54.1",
  ListCost: "98.32",
  ContractedCost: "90",
  BillingAccountId: "111122223333",
  BillingCurrency: "USD",
  BillingPeriodStart: "2026-03-01T00:00:00Z",
  BillingPeriodEnd: "2026-04-01T00:00:00Z",
  ChargePeriodStart: "2026-03-02T10:00:00Z",
  ChargePeriodEnd: "2026-03-02T11:00:00Z",
  ChargeCategory: "Usage",
  ChargeClass: "",
  ChargeDescription: "",
  CommitmentDiscountId: "",
  CommitmentDiscountStatus: "",
  CommitmentDiscountType: "",
  ConsumedQuantity: "1",
  ConsumedUnit: "Hours",
  PricingCategory: "Standard",
  ProviderName: "AWS",
  PublisherName: "AWS",
  RegionId: "us-east-2",
  AvailabilityZone: "us-east-2b",
  ResourceId: "",
  ResourceName: "",
  ResourceType: "",
  ServiceCategory: "Compute",
  ServiceName: "Amazon Elastic Compute Cloud",
  SubAccountId: "444455556666",
};

const AWS: NamedCells = {
  ...BASE,
  ResourceId: "arn:aws:ec2:us-east-2:444455556666:instance/i-0abc",
  x_UsageType: "USE2-BoxUsage:p5.48xlarge",
};

describe("a line of FOCUS 1.0 of AWS", () => {
  it("is the hour of a machine, with the type from AWS's own column", () => {
    const line = lineOf(AWS);
    expect({ ...line, costs: costText(line.costs) }).toEqual({
      row: 1,
      cloud: "aws",
      payer: "111122223333",
      account: "444455556666",
      billingFrom: Date.UTC(2026, 2, 1),
      billingUntil: Date.UTC(2026, 3, 1),
      from: Date.UTC(2026, 2, 2, 10),
      until: Date.UTC(2026, 2, 2, 11),
      kind: "machine",
      machine: "i-0abc",
      region: "us-east-2",
      zone: "us-east-2b",
      instanceType: "p5.48xlarge",
      capacityType: "on-demand",
      commitment: "",
      reservation: "",
      machineHours: rational(1),
      currency: "USD",
      costs: "98.32 90 54.1 0",
      description: "",
      invoice: "",
    });
  });

  it.each([
    ["Dynamic", "spot"],
    ["Committed", "reserved"],
    ["Standard", "on-demand"],
    ["Other", ""],
  ])("with the pricing category %s has the capacity type %j", (PricingCategory, capacityType) => {
    expect(lineOf({ ...AWS, PricingCategory }).capacityType).toBe(capacityType);
  });

  it("of a network is not the time of its machine", () => {
    const row = { ...AWS, x_UsageType: "USE2-DataTransfer-Out-Bytes" };
    expect(resultOf(row)).toEqual({ drop: "of no GPU machine" });
    expect(lineOf(row, { machines: new Set(["i-0abc"]) }).kind).toBe("network");
  });
});

describe("FOCUS 1.1 and later", () => {
  it("have the instance type in the details of the SKU", () => {
    const row: NamedCells = { ...AWS, x_UsageType: "", SkuPriceDetails: '{"InstanceType":"p5.48xlarge","GpuCount":8}' };
    expect(lineOf(row)).toMatchObject({ kind: "machine", instanceType: "p5.48xlarge" });
    expect(resultOf({ ...row, SkuPriceDetails: '{"InstanceType":"m5.large"}' })).toEqual({ drop: "another machine" });
  });

  it("have capacity reservations, used or not", () => {
    const reservation = "arn:aws:ec2:us-east-2:444455556666:capacity-reservation/cr-0f";
    const used = { ...AWS, CapacityReservationId: reservation, CapacityReservationStatus: "Used", InvoiceId: "" };
    expect(lineOf(used)).toMatchObject({ kind: "machine", reservation: "cr-0f", machine: "i-0abc" });
    const unused = { ...used, CapacityReservationStatus: "Unused", ResourceId: reservation };
    expect(lineOf({ ...unused, x_UsageType: "UnusedBox:p5.48xlarge" })).toMatchObject({
      kind: "unused-commitment",
      reservation: "cr-0f",
      machine: "",
    });
    expect(resultOf({ ...unused, x_UsageType: "UnusedBox:m5.large" })).toEqual({
      drop: "commitment of other machines",
    });
    const block = { ...used, ResourceId: reservation, x_UsageType: "Reservation:p5.48xlarge" };
    expect(lineOf(block)).toMatchObject({ kind: "reservation", reservation: "cr-0f" });
  });

  it("name the provider in another column since 1.3, and only there since 1.4", () => {
    const row = { ...AWS, ProviderName: "", PublisherName: "", ServiceProviderName: "Amazon Web Services" };
    expect(lineOf(row)).toMatchObject({ cloud: "aws", machine: "i-0abc" });
  });

  it("are recognized in any case of the column names", () => {
    const row = Object.fromEntries(Object.entries(AWS).map(([name, cell]) => [name.toLowerCase(), cell]));
    expect(lineOf(row).machine).toBe("i-0abc");
  });
});

describe("commitments in FOCUS", () => {
  const plan = "arn:aws:savingsplans::1:savingsplan/x";

  it("are purchases, covered usage and unused parts", () => {
    const purchase = {
      ...AWS,
      ChargeCategory: "Purchase",
      CommitmentDiscountId: plan,
      CommitmentDiscountType: "Savings Plan",
    };
    const bought = {
      ...purchase,
      x_UsageType: "ComputeSP:1yr",
      BilledCost: "60",
      EffectiveCost: "0",
      ResourceId: plan,
    };
    expect(kindsOf(linesOf(bought))).toEqual(["purchase 98.32 90 0 60"]);
    const covered = {
      ...AWS,
      CommitmentDiscountId: plan,
      CommitmentDiscountStatus: "Used",
      PricingCategory: "Committed",
    };
    expect(lineOf(covered)).toMatchObject({ kind: "machine", commitment: plan, capacityType: "reserved" });
    const unused = {
      ...covered,
      CommitmentDiscountStatus: "Unused",
      CommitmentDiscountType: "Savings Plan",
      ResourceId: plan,
      x_UsageType: "x",
    };
    expect(lineOf(unused)).toMatchObject({ kind: "unused-commitment", commitment: plan, machine: "" });
  });

  it("for machines without GPUs are dropped", () => {
    const row = {
      ...AWS,
      CommitmentDiscountId: "arn:ri",
      CommitmentDiscountStatus: "Unused",
      CommitmentDiscountType: "Reserved Instance",
      x_UsageType: "HeavyUsage:m5.large",
    };
    expect(resultOf(row)).toEqual({ drop: "commitment of other machines" });
    const database = {
      ...row,
      x_UsageType: "",
      ServiceName: "Amazon Relational Database Service",
      ServiceCategory: "Databases",
    };
    expect(resultOf(database)).toEqual({ drop: "commitment of other machines" });
  });
});

describe("other categories of FOCUS", () => {
  it.each([
    ["Tax", "3", "", "tax"],
    ["Credit", "-3", "", "credit"],
    ["Adjustment", "-3", "", "refund"],
    ["Adjustment", "0.01", "", "fee"],
    ["Purchase", "-3", "Correction", "refund"],
    ["Purchase", "3", "", "fee"],
  ])("%s of %s with the class %j is of the kind %s", (ChargeCategory, BilledCost, ChargeClass, kind) => {
    expect(lineOf({ ...BASE, ChargeCategory, BilledCost, ChargeClass }).kind).toBe(kind);
  });

  it("of a support plan are support", () => {
    expect(lineOf({ ...BASE, ServiceName: "AWS Support (Business)", ServiceCategory: "Other" }).kind).toBe("support");
  });

  it("of a correction of a machine's time stay with the machine", () => {
    const row = { ...AWS, ChargeClass: "Correction", BilledCost: "-2", EffectiveCost: "-2" };
    expect(lineOf(row)).toMatchObject({ kind: "machine", machine: "i-0abc" });
  });

  it("that FOCUS does not have are an error", () => {
    expect(resultOf({ ...BASE, ChargeCategory: "Gift" })).toEqual({
      column: "ChargeCategory",
      problem: '"Gift" is no category of FOCUS',
    });
    expect(resultOf({ ...AWS, ChargePeriodEnd: "" })).toMatchObject({ column: "ChargePeriodEnd" });
  });
});

describe("FOCUS of other providers", () => {
  it("of Microsoft has the machine in a scale set in the details of the SKU", () => {
    const scaleSet =
      "/subscriptions/s/resourceGroups/MC_x/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-1-vmss";
    const row = {
      ...BASE,
      ProviderName: "Microsoft",
      PublisherName: "Microsoft",
      ServiceName: "Virtual Machines",
      ResourceId: scaleSet,
      SubAccountId: "/subscriptions/s",
      x_SkuMeterCategory: "Virtual Machines",
      x_SkuDetails: '{"ServiceType":"Standard_ND96isr_H100_v5","VMName":"aks-gpu-1-vmss_7"}',
    };
    expect(lineOf(row)).toMatchObject({
      cloud: "azure",
      kind: "machine",
      instanceType: "Standard_ND96isr_H100_v5",
      machine: `${scaleSet.toLowerCase()}/virtualmachines/7`,
      machineHours: rational(1),
    });
    expect(lineOf({ ...row, x_SkuMeterCategory: "Virtual Machines Licenses" }).kind).toBe("licence");
    expect(resultOf({ ...row, x_SkuMeterCategory: "Storage", ResourceId: "/subscriptions/s/x/disks/d" })).toEqual({
      drop: "of no GPU machine",
    });
    expect(lineOf({ ...row, ConsumedQuantity: "0.24", ConsumedUnit: "100 Hours" }).machineHours).toEqual(rational(24));
  });

  it("of Google has several lines for a machine, and none with its hours", () => {
    const row = {
      ...BASE,
      ProviderName: "Google Cloud",
      PublisherName: "Google Cloud",
      ServiceName: "Compute Engine",
      SubAccountId: "shop-prod",
      AvailabilityZone: "us-central1-a",
      ResourceId: "//compute.googleapis.com/projects/123/zones/us-central1-a/instances/456",
      ResourceName: "gpu-1",
      ChargeDescription: "Nvidia H100 80GB GPU attached to Spot VMs running in Iowa",
    };
    expect(lineOf(row)).toMatchObject({
      cloud: "gcp",
      kind: "machine",
      machine: "shop-prod/us-central1-a/gpu-1",
      machineHours: undefined,
    });
    expect(lineOf({ ...row, ChargeDescription: "A3 Instance Core running in Iowa" }).kind).toBe("machine");
    // Cores of a series that can have GPUs or none.
    const core = { ...row, ChargeDescription: "N1 Predefined Instance Core running in Iowa" };
    expect(resultOf(core)).toEqual({ drop: "another machine" });
    expect(lineOf(core, { machines: new Set(["shop-prod/us-central1-a/gpu-1"]) }).kind).toBe("machine");
  });

  it("of Oracle and of smaller clouds has GPUs in the words of the SKU", () => {
    const oracle = {
      ...BASE,
      ProviderName: "Oracle",
      PublisherName: "Oracle",
      ServiceName: "COMPUTE",
      ResourceId: "ocid1.instance.oc1.phx.abc",
      ConsumedUnit: "GPU HOURS",
      ChargeDescription: "OCI - Compute - GPU - H100",
    };
    expect(lineOf(oracle)).toMatchObject({
      cloud: "oci",
      machine: "ocid1.instance.oc1.phx.abc",
      machineHours: undefined,
    });
    const other = {
      ...oracle,
      ProviderName: "Nebius",
      PublisherName: "Nebius",
      ResourceId: "vm-7",
      ConsumedUnit: "Hour",
    };
    expect(lineOf(other)).toMatchObject({
      cloud: "other",
      kind: "machine",
      machine: "vm-7",
      machineHours: rational(1),
    });
  });
});
