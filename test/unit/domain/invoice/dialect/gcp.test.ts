import { describe, expect, it } from "vitest";
import { costText, kindsOf, lineOf, linesOf, resultOf, type NamedCells } from "../../../../support/invoice/rows.ts";

/** An hour of the GPUs of an a3-highgpu-8g. */
const GPUS: NamedCells = {
  billing_account_id: "01A2B3-C4D5E6-F70819",
  "service.description": "Compute Engine",
  "sku.description": "Nvidia H100 80GB GPU running in Americas",
  usage_start_time: "2026-03-02 10:00:00 UTC",
  usage_end_time: "2026-03-02 11:00:00 UTC",
  "project.id": "shop-prod",
  "location.region": "us-central1",
  "location.zone": "us-central1-a",
  "resource.name": "gpu-1",
  "resource.global_name": "//compute.googleapis.com/projects/1234567/zones/us-central1-a/instances/7890123456",
  cost: "80.5",
  cost_at_list: "88",
  currency: "USD",
  credits: "[]",
  system_labels: '[{"key":"compute.googleapis.com/machine_spec","value":"a3-highgpu-8g"}]',
  "invoice.month": "202603",
  cost_type: "regular",
};

const credit = (type: string, amount: string): string =>
  `{"type":"${type}","name":"${type}","amount":${amount},"id":"c-1"}`;

describe("a line of Google", () => {
  it("is a part of a machine, which has the id of its Node", () => {
    const line = lineOf(GPUS);
    expect({ ...line, costs: costText(line.costs) }).toEqual({
      row: 1,
      cloud: "gcp",
      payer: "01A2B3-C4D5E6-F70819",
      account: "shop-prod",
      billingFrom: Date.UTC(2026, 2, 1),
      billingUntil: Date.UTC(2026, 3, 1),
      from: Date.UTC(2026, 2, 2, 10),
      until: Date.UTC(2026, 2, 2, 11),
      kind: "machine",
      machine: "shop-prod/us-central1-a/gpu-1",
      region: "us-central1",
      zone: "us-central1-a",
      instanceType: "a3-highgpu-8g",
      capacityType: "on-demand",
      commitment: "",
      reservation: "",
      machineHours: undefined,
      currency: "USD",
      costs: "88 80.5 80.5 80.5",
      description: "Nvidia H100 80GB GPU running in Americas",
      invoice: "",
    });
  });

  it("of cores or memory is a part of the same machine, by the type in the labels of the system", () => {
    for (const sku of ["A3 Instance Core running in Americas", "A3 Instance Ram running in Americas", "Custom Core"]) {
      expect(lineOf({ ...GPUS, "sku.description": sku })).toMatchObject({
        kind: "machine",
        machine: "shop-prod/us-central1-a/gpu-1",
      });
    }
    const cores = { ...GPUS, "sku.description": "N1 Predefined Instance Core running in Americas" };
    const small = {
      ...cores,
      system_labels: '[{"key":"compute.googleapis.com/machine_spec","value":"n1-standard-8"}]',
    };
    expect(resultOf(small)).toEqual({ drop: "another machine" });
    expect(lineOf(small, { machines: new Set(["shop-prod/us-central1-a/gpu-1"]) }).kind).toBe("machine");
  });

  it("of a spot machine is spot", () => {
    expect(
      lineOf({
        ...GPUS,
        "sku.description": "Nvidia H100 80GB GPU attached to Spot Preemptible VMs running in Americas",
      }).capacityType,
    ).toBe("spot");
  });

  it.each([
    ["projects/shop-prod/instances/gpu-1", ""],
    ["projects/shop-prod/zones/us-central1-a/instances/gpu-1", ""],
    ["gpu-1", "//compute.googleapis.com/projects/1234567/zones/us-central1-a/instances/7890123456"],
  ])("names its machine as %s with the global name %j", (name, globalName) => {
    expect(lineOf({ ...GPUS, "resource.name": name, "resource.global_name": globalName }).machine).toBe(
      "shop-prod/us-central1-a/gpu-1",
    );
  });

  it("of a disk, a network or a licence counts with the machine that it names", () => {
    const disk = {
      ...GPUS,
      "sku.description": "Storage PD Capacity",
      system_labels: "[]",
      "resource.global_name": "//compute.googleapis.com/projects/1/zones/us-central1-a/disk/2",
    };
    expect(resultOf(disk)).toEqual({ drop: "of no GPU machine" });
    const traffic = { ...GPUS, "sku.description": "Network Internet Data Transfer Out from Americas to EMEA" };
    expect(lineOf(traffic).kind).toBe("network");
    expect(lineOf({ ...GPUS, "sku.description": "Licensing Fee for Red Hat Enterprise Linux 8" }).kind).toBe("licence");
    expect(resultOf({ ...traffic, system_labels: "" })).toEqual({ drop: "of no GPU machine" });
  });

  it("of a reservation that no machine uses is unused", () => {
    const row = {
      ...GPUS,
      "resource.name": "gpu-hold",
      "resource.global_name": "//compute.googleapis.com/projects/1/zones/us-central1-a/reservations/gpu-hold",
      system_labels: '[{"key":"compute.googleapis.com/is_unused_reservation","value":"true"}]',
    };
    expect(lineOf(row)).toMatchObject({ kind: "unused-commitment", reservation: "gpu-hold", machine: "" });
  });
});

describe("credits of Google", () => {
  it("that are discounts lower the effective cost of the machine", () => {
    const credits = `[${credit("SUSTAINED_USAGE_DISCOUNT", "-0.5")},${credit("DISCOUNT", "-1E-05")},${credit("SUBSCRIPTION_BENEFIT", "-1")}]`;
    expect(kindsOf(linesOf({ ...GPUS, credits }))).toEqual(["machine 88 80.5 78.99999 78.99999"]);
  });

  it("of a commitment make the machine reserved", () => {
    const row = { ...GPUS, credits: `[${credit("COMMITTED_USAGE_DISCOUNT", "-80.5")}]` };
    expect(kindsOf(linesOf(row))).toEqual(["machine 88 80.5 0 0"]);
    expect(lineOf(row)).toMatchObject({ capacityType: "reserved", commitment: "c-1" });
  });

  it("that are promotions are lines of their own", () => {
    const lines = linesOf({ ...GPUS, credits: `[${credit("PROMOTION", "-20.25")},${credit("DISCOUNT", "-0.5")}]` });
    expect(kindsOf(lines)).toEqual(["machine 88 80.5 80 80", "credit 0 0 -20.25 -20.25"]);
    expect(lines[1]).toMatchObject({ description: "PROMOTION", machine: "shop-prod/us-central1-a/gpu-1" });
  });

  it("keep all digits of their amounts", () => {
    const row = { ...GPUS, cost: "1", credits: `[${credit("DISCOUNT", "-0.1234567890123456789")}]` };
    expect(costText(lineOf(row).costs)).toBe("88 1 0.8765432109876543211 0.8765432109876543211");
  });

  it("are read as a program in Python writes them", () => {
    const credits =
      "[{'name': 'FreeTrial', 'amount': -2, 'full_name': '', 'id': 'FreeTrial', 'type': 'PROMOTION', 'x': None}]";
    expect(kindsOf(linesOf({ ...GPUS, credits }))).toEqual(["machine 88 80.5 80.5 80.5", "credit 0 0 -2 -2"]);
  });

  it("that are not readable are an error", () => {
    expect(resultOf({ ...GPUS, credits: "[{" })).toMatchObject({ column: "credits" });
    expect(resultOf({ ...GPUS, credits: '[{"type":"DISCOUNT","amount":"much"}]' })).toMatchObject({
      column: "credits",
    });
  });
});

describe("commitments and other lines of Google", () => {
  const fee = { ...GPUS, system_labels: "[]", "resource.name": "", "resource.global_name": "", cost_at_list: "" };

  it("have the fee of a commitment with its cost, as Google does not spread it", () => {
    const row = { ...fee, "sku.description": "Commitment v1: Nvidia H100 80GB GPU in Americas for 1 Year" };
    expect(kindsOf(linesOf(row))).toEqual(["purchase 80.5 80.5 80.5 80.5"]);
    expect(resultOf({ ...row, "sku.description": "Commitment v1: N2 Cpu in Americas for 1 Year" })).toEqual({
      drop: "commitment of other machines",
    });
  });

  it("have the unused part of a commitment by money, after the offset of the used part", () => {
    const row = {
      ...fee,
      "sku.description": "Commitment - dollar based v1: GCE for 3 years",
      credits: `[${credit("FEE_UTILIZATION_OFFSET", "-70")}]`,
    };
    expect(kindsOf(linesOf(row))).toEqual(["purchase 80.5 80.5 10.5 10.5"]);
  });

  it.each([
    ["tax", "1", "tax"],
    ["adjustment", "-1", "refund"],
    ["adjustment", "1", "fee"],
    ["rounding_error", "0.01", "fee"],
  ])("of the cost type %s of %s are of the kind %s", (cost_type, cost, kind) => {
    expect(lineOf({ ...fee, cost_type, cost, "sku.description": "x", "service.description": "Invoice" }).kind).toBe(
      kind,
    );
  });

  it("of support are support, and of other services dropped unless the service counts", () => {
    expect(lineOf({ ...fee, "service.description": "Support" }).kind).toBe("support");
    const storage = { ...fee, "service.description": "Vertex AI" };
    expect(resultOf(storage)).toEqual({ drop: "another service" });
    expect(lineOf(storage, { services: new Set(["vertex ai"]) }).kind).toBe("machine");
  });

  it("have flat names with underscores, too", () => {
    const row = Object.fromEntries(Object.entries(GPUS).map(([name, cell]) => [name.replace(".", "_"), cell]));
    expect(lineOf(row).machine).toBe("shop-prod/us-central1-a/gpu-1");
  });
});
