import { describe, expect, it } from "vitest";
import { rational } from "../../../../../domain/exact/rational.ts";
import { costText, kindsOf, lineOf, linesOf, resultOf, type NamedCells } from "../../../../support/invoice/rows.ts";

const EFFECTIVE_PLAN = "savingsPlan/SavingsPlanEffectiveCost";

/** A line of an hour of a p5.48xlarge at its public price. */
const USAGE: NamedCells = {
  "bill/PayerAccountId": "111122223333",
  "bill/BillingPeriodStartDate": "2026-03-01T00:00:00Z",
  "bill/BillingPeriodEndDate": "2026-04-01T00:00:00Z",
  "bill/InvoiceId": "",
  "lineItem/UsageAccountId": "444455556666",
  "lineItem/LineItemType": "Usage",
  "lineItem/UsageStartDate": "2026-03-02T10:00:00Z",
  "lineItem/UsageEndDate": "2026-03-02T11:00:00Z",
  "lineItem/ProductCode": "AmazonEC2",
  "lineItem/UsageType": "USE2-BoxUsage:p5.48xlarge",
  "lineItem/Operation": "RunInstances",
  "lineItem/AvailabilityZone": "us-east-2b",
  "lineItem/ResourceId": "i-0a1b2c3d4e5f60718",
  "lineItem/UsageAmount": "1.0",
  "lineItem/CurrencyCode": "USD",
  "lineItem/UnblendedCost": "98.32",
  "lineItem/LineItemDescription": "$98.32 per On Demand Linux p5.48xlarge Instance Hour",
  "product/instanceType": "p5.48xlarge",
  "product/regionCode": "us-east-2",
  "pricing/publicOnDemandCost": "98.3200000000",
  "pricing/unit": "Hrs",
  "reservation/ReservationARN": "",
  "reservation/EffectiveCost": "",
  "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "",
  "reservation/UnusedRecurringFee": "",
  "savingsPlan/SavingsPlanARN": "",
  [EFFECTIVE_PLAN]: "",
  "savingsPlan/TotalCommitmentToDate": "",
  "savingsPlan/UsedCommitment": "",
  "savingsPlan/InstanceTypeFamily": "",
  "savingsPlan/OfferingType": "",
};

const PLAN = "arn:aws:savingsplans::444455556666:savingsplan/1c2d";
const RESERVED = "arn:aws:ec2:us-east-2:444455556666:reserved-instances/7e8f";

describe("a line of AWS's legacy report", () => {
  it("is the hour of a machine with all of its facts", () => {
    const line = lineOf(USAGE);
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
      machine: "i-0a1b2c3d4e5f60718",
      region: "us-east-2",
      zone: "us-east-2b",
      instanceType: "p5.48xlarge",
      capacityType: "on-demand",
      commitment: "",
      reservation: "",
      machineHours: rational(1),
      currency: "USD",
      costs: "98.32 98.32 98.32 98.32",
      description: "$98.32 per On Demand Linux p5.48xlarge Instance Hour",
      invoice: "",
    });
  });

  it("of a spot machine has the public price as list cost", () => {
    const spot = { ...USAGE, "lineItem/UsageType": "USE2-SpotUsage:p5.48xlarge", "lineItem/UnblendedCost": "31.4" };
    expect([lineOf(spot).capacityType, kindsOf(linesOf(spot))]).toEqual(["spot", ["machine 98.32 31.4 31.4 31.4"]]);
  });

  it("of a machine without GPUs is dropped, unless its type, its account or itself counts", () => {
    const small = { ...USAGE, "lineItem/UsageType": "BoxUsage:m5.large", "product/instanceType": "m5.large" };
    expect(resultOf(small)).toEqual({ drop: "another machine" });
    expect(lineOf(small, { instanceTypes: new Set(["m5.large"]) }).kind).toBe("machine");
    expect(lineOf(small, { accounts: new Set(["444455556666"]) }).kind).toBe("machine");
    expect(lineOf(small, { machines: new Set(["i-0a1b2c3d4e5f60718"]) }).kind).toBe("machine");
  });

  it("of another service is dropped, unless the service counts", () => {
    const train = {
      ...USAGE,
      "lineItem/ProductCode": "AmazonSageMaker",
      "lineItem/UsageType": "USE2-Train:ml.p5.48xlarge",
    };
    expect(resultOf(train)).toEqual({ drop: "another service" });
    expect(lineOf(train, { services: new Set(["amazonsagemaker"]) }).kind).toBe("machine");
  });

  it("of a network counts if it names a machine of the ledger, and one of a disk names none", () => {
    const traffic = { ...USAGE, "lineItem/UsageType": "USE2-DataTransfer-Out-Bytes", "product/instanceType": "" };
    expect(resultOf(traffic)).toEqual({ drop: "of no GPU machine" });
    expect(lineOf(traffic, { machines: new Set(["i-0a1b2c3d4e5f60718"]) }).kind).toBe("network");
    const disk = {
      ...USAGE,
      "lineItem/UsageType": "EBS:VolumeUsage.gp3",
      "lineItem/ResourceId": "vol-1",
      "product/instanceType": "",
    };
    expect(resultOf(disk, { machines: new Set(["vol-1"]) })).toEqual({ drop: "of no GPU machine" });
  });
});

describe("a savings plan of AWS", () => {
  const covered = {
    ...USAGE,
    "lineItem/LineItemType": "SavingsPlanCoveredUsage",
    "savingsPlan/SavingsPlanARN": PLAN,
    [EFFECTIVE_PLAN]: "54.1",
  };
  const negation = {
    ...USAGE,
    "lineItem/LineItemType": "SavingsPlanNegation",
    "lineItem/UnblendedCost": "-98.32",
    "savingsPlan/SavingsPlanARN": PLAN,
  };
  const fee = {
    ...USAGE,
    "lineItem/LineItemType": "SavingsPlanRecurringFee",
    "lineItem/ProductCode": "ComputeSavingsPlans",
    "lineItem/UsageType": "ComputeSP:1yrNoUpfront",
    "lineItem/ResourceId": PLAN,
    "lineItem/UnblendedCost": "60",
    "product/instanceType": "",
    "savingsPlan/SavingsPlanARN": PLAN,
    "savingsPlan/TotalCommitmentToDate": "60",
    "savingsPlan/UsedCommitment": "54.1",
    "savingsPlan/OfferingType": "ComputeSavingsPlans",
  };

  it("gives its part to the covered usage, and the negation takes only the invoice back", () => {
    expect(kindsOf(linesOf(covered))).toEqual(["machine 98.32 98.32 54.1 98.32"]);
    expect(kindsOf(linesOf(negation))).toEqual(["machine 0 0 0 -98.32"]);
    expect([lineOf(covered).capacityType, lineOf(covered).commitment]).toEqual(["reserved", PLAN]);
    expect(lineOf(negation).machineHours).toBeUndefined();
  });

  it("has a purchase without an effective cost, and the unused part of its commitment", () => {
    expect(kindsOf(linesOf(fee))).toEqual(["purchase 0 0 0 60", "unused-commitment 0 0 5.9 0"]);
    expect(kindsOf(linesOf({ ...fee, "savingsPlan/UsedCommitment": "60.0" }))).toEqual(["purchase 0 0 0 60"]);
  });

  it("sums to the same effective and billed cost over usage, negation and fee", () => {
    const lines = [covered, negation, fee].flatMap((row) => linesOf(row));
    // 54.1 + 5.9 effective; 98.32 − 98.32 + 60 billed.
    const sum = (of: "effective" | "billed"): number =>
      lines.reduce((total, { costs }) => total + Number(costs[of].num) / Number(costs[of].den), 0);
    expect([sum("effective"), sum("billed")]).toEqual([60, 60]);
  });

  it("for another family or for SageMaker is dropped", () => {
    expect(resultOf({ ...fee, "savingsPlan/InstanceTypeFamily": "m5" })).toEqual({
      drop: "commitment of other machines",
    });
    expect(linesOf({ ...fee, "savingsPlan/InstanceTypeFamily": "p5" })).toHaveLength(2);
    expect(resultOf({ ...fee, "savingsPlan/OfferingType": "SageMakerSavingsPlans" })).toEqual({
      drop: "another service",
    });
  });

  it("that is paid in advance has a purchase", () => {
    const upfront = {
      ...fee,
      "lineItem/LineItemType": "SavingsPlanUpfrontFee",
      "lineItem/UnblendedCost": "525600",
      "savingsPlan/TotalCommitmentToDate": "",
      "savingsPlan/UsedCommitment": "",
    };
    expect(kindsOf(linesOf(upfront))).toEqual(["purchase 0 0 0 525600"]);
  });
});

describe("a reserved instance of AWS", () => {
  it("gives its effective cost to the usage", () => {
    const row = {
      ...USAGE,
      "lineItem/LineItemType": "DiscountedUsage",
      "lineItem/UnblendedCost": "0",
      "reservation/ReservationARN": RESERVED,
      "reservation/EffectiveCost": "43.1600000000",
    };
    expect(kindsOf(linesOf(row))).toEqual(["machine 98.32 98.32 43.16 0"]);
    expect([lineOf(row).commitment, lineOf(row).capacityType]).toEqual([RESERVED, "reserved"]);
  });

  it("has its unused upfront and recurring part in the row of its fee", () => {
    const row = {
      ...USAGE,
      "lineItem/LineItemType": "RIFee",
      "lineItem/UsageType": "USE2-HeavyUsage:p5.48xlarge",
      "lineItem/ResourceId": "",
      "lineItem/UnblendedCost": "31000.5",
      "reservation/ReservationARN": RESERVED,
      "reservation/UnusedAmortizedUpfrontFeeForBillingPeriod": "12.25",
      "reservation/UnusedRecurringFee": "3.5",
    };
    expect(kindsOf(linesOf(row))).toEqual(["purchase 0 0 0 31000.5", "unused-commitment 0 0 15.75 0"]);
    const other = { ...row, "lineItem/UsageType": "HeavyUsage:m5.large", "product/instanceType": "m5.large" };
    expect(resultOf(other)).toEqual({ drop: "commitment of other machines" });
  });

  it("that is paid in advance is a purchase, although its line is a fee", () => {
    const row = {
      ...USAGE,
      "lineItem/LineItemType": "Fee",
      "lineItem/UsageType": "HeavyUsage:p5.48xlarge",
      "reservation/ReservationARN": RESERVED,
    };
    expect(kindsOf(linesOf(row))).toEqual(["purchase 0 0 0 98.32"]);
  });
});

describe("capacity of AWS", () => {
  const arn = "arn:aws:ec2:us-east-2:444455556666:capacity-reservation/cr-0f1e2d3c";

  it("that no machine took is unused, with its reservation", () => {
    const line = lineOf({ ...USAGE, "lineItem/UsageType": "USE2-UnusedBox:p5.48xlarge", "lineItem/ResourceId": arn });
    expect([line.kind, line.reservation, line.machine]).toEqual(["unused-commitment", "cr-0f1e2d3c", ""]);
  });

  it("that machines pay for is repeated by a line without a cost, which is dropped", () => {
    const row = {
      ...USAGE,
      "lineItem/UsageType": "USE2-Reservation:p5.48xlarge",
      "lineItem/ResourceId": arn,
      "lineItem/UnblendedCost": "0.0",
      "pricing/publicOnDemandCost": "0.0",
    };
    expect(resultOf(row)).toEqual({ drop: "without a cost" });
    expect(kindsOf(linesOf({ ...row, "lineItem/UnblendedCost": "98.32" }))).toEqual([
      "reservation 0 98.32 98.32 98.32",
    ]);
  });

  it("in a block has its cost itself", () => {
    const row = { ...USAGE, "lineItem/UsageType": "USE2-CapacityBlock:p5.48xlarge", "lineItem/ResourceId": arn };
    const line = lineOf({ ...row, "lineItem/LineItemType": "Fee" });
    expect([line.kind, line.reservation, line.capacityType]).toEqual(["reservation", "cr-0f1e2d3c", "reserved"]);
  });

  it("has its name in CUR 2.0 in a column of its own", () => {
    const line = lineOf({
      ...USAGE,
      capacity_reservation_capacity_reservation_arn: arn,
      capacity_reservation_capacity_reservation_status: "Used",
    });
    expect([line.kind, line.reservation, line.machine]).toEqual(["machine", "cr-0f1e2d3c", "i-0a1b2c3d4e5f60718"]);
  });
});

describe("other lines of AWS", () => {
  it.each([
    ["Tax", "AmazonEC2", "tax"],
    ["Credit", "AmazonEC2", "credit"],
    ["Refund", "AmazonEC2", "refund"],
    ["Fee", "AmazonRegistrar", "fee"],
    ["Fee", "AWSSupportEnterprise", "support"],
    ["Usage", "AWSSupportBusiness", "support"],
  ])("of the type %s of %s are of the kind %s", (type, product, kind) => {
    const row = {
      ...USAGE,
      "lineItem/LineItemType": type,
      "lineItem/ProductCode": product,
      "lineItem/UsageType": "x",
      "lineItem/UnblendedCost": "-3.5",
    };
    expect(kindsOf(linesOf(row))).toEqual([`${kind} -3.5 -3.5 -3.5 -3.5`]);
  });

  it.each(["EdpDiscount", "PrivateRateDiscount", "BundledDiscount"])(
    "of the type %s lower the cost of their machine",
    (type) => {
      const row = { ...USAGE, "lineItem/LineItemType": type, "lineItem/UnblendedCost": "-9.832" };
      expect(kindsOf(linesOf(row))).toEqual(["machine 0 -9.832 -9.832 -9.832"]);
      const other = { ...row, "lineItem/UsageType": "BoxUsage:m5.large", "product/instanceType": "m5.large" };
      expect(resultOf(other)).toEqual({ drop: "another machine" });
    },
  );

  it("have their discounts once: in the net columns, or in lines of discounts", () => {
    const net = { ...USAGE, "lineItem/NetUnblendedCost": "88.488" };
    expect(kindsOf(linesOf(net))).toEqual(["machine 98.32 88.488 88.488 98.32"]);
    const discount = {
      ...net,
      "lineItem/LineItemType": "EdpDiscount",
      "lineItem/UnblendedCost": "-9.832",
      "lineItem/NetUnblendedCost": "-9.832",
    };
    expect(kindsOf(linesOf(discount))).toEqual(["machine 0 0 0 -9.832"]);
  });

  it("of a type that gpu-ledger does not know are an error, which names the column", () => {
    expect(resultOf({ ...USAGE, "lineItem/LineItemType": "Gift" })).toEqual({
      column: "lineItem/LineItemType",
      problem: '"Gift" is no type of a line that gpu-ledger knows',
    });
  });

  it("with a cost that is no number are an error", () => {
    expect(resultOf({ ...USAGE, "lineItem/UnblendedCost": "12,5" })).toEqual({
      column: "lineItem/UnblendedCost",
      problem: '"12,5" is not a number such as 3.60 or 1E-05',
    });
  });
});

describe("CUR 2.0", () => {
  const snake = (name: string): string =>
    name
      .replaceAll("/", "_")
      .replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][A-Z]?)/g, "_")
      .toLowerCase();
  const rowOf = (row: NamedCells): NamedCells =>
    Object.fromEntries(Object.entries(row).map(([name, cell]) => [snake(name), cell]));

  it("has the names of the legacy report in snake case", () => {
    expect(snake("savingsPlan/SavingsPlanARN")).toBe("savings_plan_savings_plan_a_r_n");
    expect(lineOf(rowOf(USAGE))).toEqual(lineOf(USAGE));
  });

  it("can have the instance type in the map of the product alone", () => {
    const { "product/instanceType": _, ...others } = USAGE;
    const row = {
      ...rowOf(others),
      line_item_usage_type: "USE2-BoxUsage",
      product: '{"instance_type":"p5.48xlarge","gpu":"8"}',
    };
    expect(lineOf(row).instanceType).toBe("p5.48xlarge");
  });

  it("writes times with a blank, and small amounts with exponents", () => {
    const row = {
      ...rowOf(USAGE),
      line_item_usage_start_date: "2026-03-02 10:00:00.000",
      line_item_unblended_cost: "9.832E-05",
    };
    expect([lineOf(row).from, costText(lineOf(row).costs)]).toEqual([
      Date.UTC(2026, 2, 2, 10),
      "98.32 0.00009832 0.00009832 0.00009832",
    ]);
  });
});
