import { describe, expect, it } from "vitest";
import { lastUnits } from "../../../../domain/exact/units.ts";
import type { Origin, Part } from "../../../../reports/focus/part.ts";
import type { FocusSetting } from "../../../../reports/focus/setting.ts";
import { focusBook, freePart, GPU, partOf, SETTING, writtenRows } from "../../../support/focus-parts.ts";

const money = (last: bigint) => lastUnits<"currency">(last);
const costs = (each: bigint) => ({ list: money(each), contracted: money(each), effective: money(each) });

describe("the rows of an origin", () => {
  it("are its parts: the holders, the remainder, and for each the ratio and the unit price of the whole", () => {
    const [held, left] = writtenRows([
      partOf(),
      freePart({ gpuHours: lastUnits(6_000_000_000n), ...costs(18_000_000_000n), lines: 6 }),
    ]);
    expect(held).toMatchObject({
      AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":0.75,"UsageUnit":"GPU-Hours","UsageQuantity":18}]}',
      AllocatedMethodId: "default",
      AllocatedResourceId: "pod:prod/uid-1",
      AllocatedResourceName: "vision/v-0",
      BilledCost: "0",
      BillingPeriodEnd: "2026-04-01T00:00:00Z",
      BillingPeriodStart: "2026-03-01T00:00:00Z",
      ChargeCategory: "Usage",
      ChargeClass: null,
      ChargePeriodEnd: "2026-03-03T00:00:00Z",
      ChargePeriodStart: "2026-03-02T00:00:00Z",
      ConsumedQuantity: "18",
      ConsumedUnit: "GPU-Hours",
      EffectiveCost: "54",
      InvoiceIssuerName: "GPU platform",
      ListUnitPrice: "3",
      PricingCategory: "Standard",
      PricingQuantity: "18",
      ResourceId: "prod/gpu-a/0",
      ResourceName: "gpu-a GPU 0",
      ResourceType: "GPU",
      SkuId: "gpu/NVIDIA-L4/g6.xlarge",
      SkuPriceDetails: '{"InstanceType":"g6.xlarge"}',
      SkuPriceId: "gpu/NVIDIA-L4/g6.xlarge/prices[0]",
      SubAccountId: "vision",
      SubAccountType: "Team",
      x_PowerCost: null,
      x_Lines: "18",
    });
    expect(left).toMatchObject({
      AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":0.25,"UsageUnit":"GPU-Hours","UsageQuantity":6}]}',
      AllocatedMethodId: "default",
      AllocatedResourceId: null,
      AllocatedResourceName: null,
      AllocatedTags: null,
      SubAccountId: "platform",
      Tags: held!["Tags"],
    });
  });

  it("have the status of the invoice that prices them, each with a ratio of its own", () => {
    const of = (invoiceStatus: string): Part => partOf({ origin: { ...GPU, price: "export aws", invoiceStatus } });
    const rows = [of("provisional"), of("invoiced"), partOf()].flatMap((part) => writtenRows([part]));
    expect(rows.map((row) => [row["x_Price"], row["x_InvoiceStatus"]])).toEqual([
      ["export aws", "provisional"],
      ["export aws", "invoiced"],
      ["prices[0]", null],
    ]);
  });

  it("have the ratio to the whole, also if only some of them are selected", () => {
    const rows = writtenRows([partOf({ isAskedFor: false }), freePart({ gpuHours: lastUnits(6_000_000_000n) })]);
    expect(rows.map((row) => row["AllocatedMethodDetails"])).toEqual([
      '{"Elements":[{"AllocatedRatio":0.25,"UsageUnit":"GPU-Hours","UsageQuantity":6}]}',
    ]);
  });

  it.each([
    {
      what: "a part that a pod held and the platform pays",
      given: { payer: "platform", team: "platform" } as const,
      id: "pod:prod/uid-1",
      name: "vision/v-0",
    },
    { what: "a part of a job without a namespace", given: { namespace: "" }, id: "pod:prod/uid-1", name: "v-0" },
  ])("of $what name the holder", ({ given, id, name }) => {
    const [row] = writtenRows([partOf(given)]);
    expect(row).toMatchObject({ AllocatedResourceId: id, AllocatedResourceName: name });
  });

  it("of a spread part name the team that pays", () => {
    const [row] = writtenRows([freePart({ payer: "holder", team: "nlp" })]);
    expect(row).toMatchObject({
      AllocatedResourceId: "team:nlp",
      AllocatedResourceName: "nlp",
      AllocatedTags: '{"gpu-ledger/team":"nlp"}',
    });
  });

  it("of a cost without a node have no resource, and adjustments have no price", () => {
    const nowhere = { ...GPU, node: "", slot: undefined, gpuModel: "", instanceType: "" };
    const [markup] = writtenRows([
      freePart({ origin: { ...nowhere, price: "markup[0]" }, state: "markup", gpuHours: lastUnits(0n) }),
    ]);
    expect(markup).toMatchObject({
      ChargeCategory: "Adjustment",
      ResourceId: null,
      ResourceName: null,
      ResourceType: null,
      SkuId: null,
      SkuMeter: null,
      SkuPriceId: null,
      SkuPriceDetails: null,
      PricingCategory: null,
      PricingQuantity: null,
      PricingUnit: null,
      ConsumedQuantity: null,
      ConsumedUnit: null,
      ListUnitPrice: null,
      AllocatedMethodDetails: null,
      EffectiveCost: "54",
    });
    const [unused] = writtenRows([
      freePart({
        origin: { ...nowhere, price: "commitments[0]" },
        state: "unused commitment",
        gpuHours: lastUnits(0n),
      }),
    ]);
    expect(unused).toMatchObject({
      ChargeCategory: "Usage",
      ConsumedQuantity: "18",
      ConsumedUnit: "Hours",
      ListUnitPrice: "3",
      PricingCategory: "Committed",
      ResourceId: null,
      x_GpuHours: "0",
    });
  });

  it("of a node's remainder are priced by its hours", () => {
    const origin = { ...GPU, slot: undefined, gpuModel: "" };
    const [row] = writtenRows([freePart({ origin, state: "non-gpu", gpuHours: lastUnits(0n) })]);
    expect(row).toMatchObject({
      ResourceId: "prod/gpu-a",
      ResourceName: "gpu-a",
      ResourceType: "Node",
      SkuId: "node//g6.xlarge",
      PricingQuantity: "18",
      PricingUnit: "Node-Hours",
      ListUnitPrice: "3",
    });
  });

  it("of a correction have their own unit price if their sums give one, and no ratio", () => {
    const origin = { ...GPU, isCorrection: true };
    const rows = writtenRows([
      partOf({ origin, gpuHours: lastUnits(-1_000_000_000n), ...costs(-3_000_000_000n) }),
      partOf({ origin, gpuHours: lastUnits(0n), ...costs(-1n) }),
      partOf({ origin, gpuHours: lastUnits(1_000_000_000n), ...costs(-1n) }),
    ]);
    expect(rows.map((row) => [row["ChargeClass"], row["AllocatedMethodDetails"]])).toEqual(
      rows.map(() => ["Correction", null]),
    );
    expect(rows.map((row) => [row["PricingQuantity"], row["ListUnitPrice"], row["x_GpuHours"]])).toEqual([
      ["-1", "3", "-1"],
      [null, null, "0"],
      [null, null, "1"],
    ]);
  });

  it("are billed if there is an invoice issuer", () => {
    const [row] = writtenRows([partOf()], { ...SETTING, invoiceIssuer: "Finance", hostProvider: "AWS" });
    expect(row).toMatchObject({ BilledCost: "54", InvoiceIssuerName: "Finance", HostProviderName: "AWS" });
  });

  it("of a closed period have the ids of the payer's invoice in 1.4, and of its line for the month that they correct", () => {
    const setting = { ...SETTING, version: "1.4", invoiced: new Set([GPU.billingPeriod]) } as const;
    const idsOf = (given: Partial<Part>, of: FocusSetting = setting) => {
      const [row] = writtenRows([partOf(given)], of);
      return [row!["InvoiceId"], row!["InvoiceDetailId"]];
    };
    expect(idsOf({})).toEqual(["2026-03/vision/4711", "2026-03/vision/4711#2026-03"]);
    expect(idsOf({ team: "a/b", costCenter: "" })).toEqual(["2026-03/a%2Fb", "2026-03/a%2Fb#2026-03"]);
    const origin = { ...GPU, isCorrection: true, from: Date.UTC(2026, 1, 10), until: Date.UTC(2026, 1, 11) };
    expect(idsOf({ origin })).toEqual(["2026-03/vision/4711", "2026-03/vision/4711#2026-02"]);
    expect(idsOf({}, { ...setting, invoiced: new Set() })).toEqual([null, null]);
    expect(idsOf({}, { ...setting, version: "1.3" })).toEqual([undefined, undefined]);
  });

  describe("of an unused commitment in 1.4", () => {
    const book = focusBook({
      commitments: [
        { name: "spend", from: "2026-01-01", until: "2027-01-01", amount: "9.99", per: "hour" },
        { name: "eight", from: "2026-01-01", until: "2027-01-01", amount: "24", per: "hour", quantity: 8 },
      ],
    });
    const rowOf = (name: string, given: Partial<Origin> = {}) => {
      const origin = { ...GPU, node: "", slot: undefined, price: `commitment ${name}`, ...given };
      const part = freePart({ origin, state: "unused commitment", gpuHours: lastUnits(0n) });
      return writtenRows([part], { ...SETTING, version: "1.4", book })[0]!;
    };

    it("name the commitment, with its unused money or GPU-hours", () => {
      // 54 of the 24 × 24 hours = 576 of the day are unused: 54 ÷ 576 of 8 × 24 = 192 GPU-hours.
      expect(rowOf("eight")).toMatchObject({
        CommitmentDiscountCategory: "Usage",
        CommitmentDiscountId: "commitment/eight",
        CommitmentDiscountName: "commitment eight",
        CommitmentDiscountQuantity: "18",
        CommitmentDiscountStatus: "Unused",
        CommitmentDiscountType: "GPU commitment",
        CommitmentDiscountUnit: "GPU-Hours",
        ConsumedQuantity: null,
        ConsumedUnit: null,
        ContractApplied:
          '{"Elements":[{"ContractId":"commitment/eight","ContractCommitmentId":"commitment/eight","ContractCommitmentAppliedQuantity":18,"ContractCommitmentAppliedUnit":"GPU-Hours"}]}',
        ResourceId: "commitment/eight",
      });
      expect(rowOf("spend")).toMatchObject({ CommitmentDiscountQuantity: "54", CommitmentDiscountUnit: "USD" });
    });

    it("have only a cost if they correct a closed month, and no id if the book does not have the commitment", () => {
      expect(rowOf("eight", { isCorrection: true })).toMatchObject({
        CommitmentDiscountId: "commitment/eight",
        CommitmentDiscountQuantity: null,
        ContractApplied: expect.stringContaining('"ContractCommitmentAppliedCost":54') as string,
      });
      expect(rowOf("gone")).toMatchObject({ CommitmentDiscountId: null, ContractApplied: null, ResourceId: null });
    });
  });

  it.each([
    { capacityType: "on-demand", is: "Standard" },
    { capacityType: "spot", is: "Dynamic" },
    { capacityType: "reserved", is: "Committed" },
    { capacityType: "owned", is: "Other" },
    { capacityType: "", is: "Other" },
  ])("of capacity $capacityType are priced as $is", ({ capacityType, is }) => {
    expect(writtenRows([partOf({ origin: { ...GPU, capacityType } })])[0]).toMatchObject({ PricingCategory: is });
  });

  it("keep a workload's labels unchanged, except for our own keys", () => {
    const labels = { "mlflow.run-id": "=7", "gpu-ledger/node": "mine", "gpu-ledger/team": "mine", __proto__x: "" };
    const [row] = writtenRows([partOf({ labels })]);
    expect(JSON.parse(row!["AllocatedTags"]!)).toEqual({
      "mlflow.run-id": "=7",
      __proto__x: "",
      "gpu-ledger/namespace": "vision",
      "gpu-ledger/workload": "v",
      "gpu-ledger/workload-kind": "Job",
      "gpu-ledger/workload-type": "training",
      "gpu-ledger/team": "vision",
      "gpu-ledger/cost-center": "4711",
    });
    expect(JSON.parse(row!["Tags"]!)).toEqual({
      "gpu-ledger/cluster": "prod",
      "gpu-ledger/node": "gpu-a",
      "gpu-ledger/pool": "l4",
      "gpu-ledger/gpu-model": "NVIDIA-L4",
      "gpu-ledger/layout": "whole",
      "gpu-ledger/capacity-type": "on-demand",
    });
  });

  it("have ids in which a name cannot extend into the next part", () => {
    const ids = [
      { cluster: "a/b", node: "c" },
      { cluster: "a", node: "b/c" },
      { cluster: "a%2Fb", node: "c" },
    ].map((names) => writtenRows([partOf({ origin: { ...GPU, ...names } })])[0]!["ResourceId"]);
    expect(new Set(ids).size).toBe(3);
  });
});
