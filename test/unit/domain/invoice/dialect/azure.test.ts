import { describe, expect, it } from "vitest";
import { rational } from "../../../../../domain/exact/rational.ts";
import { costText, kindsOf, lineOf, linesOf, resultOf, type NamedCells } from "../../../../support/invoice/rows.ts";

const SCALE_SET =
  "/subscriptions/AB12/resourceGroups/MC_x/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-1-vmss";
const DETAILS =
  '{"UsageType":"ComputeHR","ServiceType":"Standard_ND96isr_H100_v5","VMName":"aks-gpu-1-vmss_7","VCPUs":96}';
const RESERVATION = "/providers/Microsoft.Capacity/reservationOrders/R1/reservations/R2";

/** A day of a machine in an export of an enterprise agreement. */
const DAY: NamedCells = {
  BillingAccountId: "8611537",
  BillingPeriodStartDate: "03/01/2026",
  BillingPeriodEndDate: "03/31/2026",
  SubscriptionId: "AB12",
  Date: "03/02/2026",
  ChargeType: "Usage",
  PricingModel: "OnDemand",
  MeterCategory: "Virtual Machines",
  MeterSubCategory: "NDsr H100 v5 Series",
  MeterName: "ND96isr H100 v5",
  ProductName: "Virtual Machines NDsr H100 v5 Series - ND96isr H100 v5 - US East",
  ResourceLocation: "eastus",
  AvailabilityZone: "2",
  ResourceId: SCALE_SET,
  AdditionalInfo: DETAILS,
  UnitOfMeasure: "1 Hour",
  Quantity: "24",
  CostInBillingCurrency: "2100",
  UnitPrice: "87.5",
  PayGPrice: "98.32",
  BillingCurrencyCode: "USD",
  ReservationId: "",
  BenefitId: "",
};

describe("a line of Azure", () => {
  it("is the day of a machine of a scale set, whose number is in the details", () => {
    const line = lineOf(DAY);
    expect({ ...line, costs: costText(line.costs) }).toEqual({
      row: 1,
      cloud: "azure",
      payer: "8611537",
      account: "ab12",
      billingFrom: Date.UTC(2026, 2, 1),
      billingUntil: Date.UTC(2026, 3, 1),
      from: Date.UTC(2026, 2, 2),
      until: Date.UTC(2026, 2, 3),
      kind: "machine",
      machine: `${SCALE_SET.toLowerCase()}/virtualmachines/7`,
      region: "eastus",
      zone: "2",
      instanceType: "Standard_ND96isr_H100_v5",
      capacityType: "on-demand",
      commitment: "",
      reservation: "",
      machineHours: rational(24),
      currency: "USD",
      // 24 h × 98.32 of the public price.
      costs: "2359.68 2100 2100 2100",
      description: "Virtual Machines NDsr H100 v5 Series - ND96isr H100 v5 - US East",
      invoice: "",
    });
  });

  it.each(["1 Hour", "10 Hours", "100 Hours", "1 hour"])(
    "with the unit %s has a quantity in single hours",
    (UnitOfMeasure) => {
      const { machineHours, costs } = lineOf({ ...DAY, UnitOfMeasure });
      expect(machineHours).toEqual(rational(24));
      // The price of a block does not count.
      expect(costText(costs)).toBe(`${UnitOfMeasure.startsWith("1 ") ? "2359.68" : "2100"} 2100 2100 2100`);
    },
  );

  it("of a machine outside of a scale set has the resource in lower case", () => {
    const ResourceId = "/SUBSCRIPTIONS/AB12/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/GPU-1";
    expect(lineOf({ ...DAY, ResourceId }).machine).toBe(
      "/subscriptions/ab12/resourcegroups/rg/providers/microsoft.compute/virtualmachines/gpu-1",
    );
  });

  it("of a scale set names the machine by its host name, too, or none", () => {
    const named = (name: string): string =>
      lineOf({ ...DAY, AdditionalInfo: DETAILS.replace("aks-gpu-1-vmss_7", name) }).machine;
    // 00000a to base 36 is 10.
    expect(named("aks-gpu-1-vmss00000a")).toBe(`${SCALE_SET.toLowerCase()}/virtualmachines/10`);
    expect([named("other_7"), named("aks-gpu-1-vmss")]).toEqual(["", ""]);
  });

  it("of the customer agreement has other cases, an ISO date, and a list cost in the billing currency", () => {
    const { Date: _, BillingCurrencyCode: __, CostInBillingCurrency: ___, PayGPrice: ____, ...others } = DAY;
    const row = {
      ...others,
      date: "2026-03-02",
      billingPeriodStartDate: "2026-03-01",
      chargeType: "usage",
      billingCurrency: "EUR",
      pricingCurrency: "USD",
      costInBillingCurrency: "1932",
      paygCostInBillingCurrency: "2170.9",
      payGPrice: "98.32",
    };
    expect(lineOf(row)).toMatchObject({ from: Date.UTC(2026, 2, 2), currency: "EUR" });
    expect(kindsOf(linesOf(row))).toEqual(["machine 2170.9 1932 1932 1932"]);
  });

  it("writes small costs with exponents", () => {
    expect(costText(lineOf({ ...DAY, CostInBillingCurrency: "1.5E-05" }).costs)).toBe(
      "2359.68 0.000015 0.000015 0.000015",
    );
  });

  it("of a spot machine is spot", () => {
    expect(lineOf({ ...DAY, PricingModel: "Spot" }).capacityType).toBe("spot");
  });

  it("of a machine without GPUs is dropped", () => {
    expect(resultOf({ ...DAY, AdditionalInfo: '{"ServiceType":"Standard_D2s_v3"}' })).toEqual({
      drop: "another machine",
    });
  });

  it.each([
    ["Virtual Machines Licenses", "licence"],
    ["Bandwidth", "network"],
  ])("of the category %s that names the machine is its %s", (MeterCategory, kind) => {
    expect(lineOf({ ...DAY, MeterCategory }).kind).toBe(kind);
    expect(resultOf({ ...DAY, MeterCategory, AdditionalInfo: "" })).toEqual({ drop: "of no GPU machine" });
  });

  it("of a disk or of another service is dropped", () => {
    expect(resultOf({ ...DAY, MeterCategory: "Storage", ResourceId: "/x/disks/d" })).toEqual({
      drop: "of no GPU machine",
    });
    expect(resultOf({ ...DAY, MeterCategory: "Cognitive Services", ResourceId: "/x" })).toEqual({
      drop: "another service",
    });
  });
});

describe("commitments of Azure", () => {
  const reserved = { ...DAY, PricingModel: "Reservation", ReservationId: RESERVATION };

  it("give their part to covered lines of an amortized export, which the invoice does not have", () => {
    const row = { ...reserved, CostInBillingCurrency: "1190.4" };
    // Contracted: 24 h × 87.5.
    expect(kindsOf(linesOf(row))).toEqual(["machine 2359.68 2100 1190.4 0"]);
    expect(lineOf(row)).toMatchObject({ commitment: RESERVATION.toLowerCase(), capacityType: "reserved" });
  });

  it("have covered lines without a cost and a purchase in an actual export", () => {
    expect(kindsOf(linesOf({ ...reserved, CostInBillingCurrency: "0" }))).toEqual(["machine 2359.68 2100 0 0"]);
    const purchase = {
      ...reserved,
      ChargeType: "Purchase",
      ResourceId: "",
      AdditionalInfo: "",
      CostInBillingCurrency: "434496",
    };
    expect(kindsOf(linesOf(purchase))).toEqual(["purchase 0 0 0 434496"]);
  });

  it("have unused parts in an amortized export", () => {
    const row = {
      ...reserved,
      ChargeType: "UnusedReservation",
      ResourceId: "",
      AdditionalInfo: "",
      CostInBillingCurrency: "49.6",
    };
    expect(kindsOf(linesOf(row))).toEqual(["unused-commitment 0 0 49.6 0"]);
    const other = {
      ...row,
      ProductName: "Virtual Machines Dsv3 Series",
      MeterSubCategory: "Dsv3 Series",
      MeterName: "D2s v3",
    };
    expect(resultOf(other)).toEqual({ drop: "commitment of other machines" });
    const plan = { ...other, ChargeType: "UnusedSavingsPlan", PricingModel: "SavingsPlan", BenefitId: "/SP/1" };
    expect(lineOf(plan)).toMatchObject({ kind: "unused-commitment", commitment: "/sp/1" });
  });

  it.each([
    ["Refund", "refund"],
    ["RoundingAdjustment", "fee"],
    ["Tax", "tax"],
    ["Credit", "credit"],
  ])("and charges of the type %s are of the kind %s", (ChargeType, kind) => {
    expect(kindsOf(linesOf({ ...DAY, ChargeType, CostInBillingCurrency: "-4" }))).toEqual([`${kind} -4 -4 -4 -4`]);
  });

  it("and unknown types are an error", () => {
    expect(resultOf({ ...DAY, ChargeType: "Gift" })).toMatchObject({ column: "ChargeType" });
    expect(resultOf({ ...DAY, Date: "2 March" })).toMatchObject({ column: "Date" });
  });
});
