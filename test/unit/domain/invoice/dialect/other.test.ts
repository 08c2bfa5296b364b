import { describe, expect, it } from "vitest";
import { rational } from "../../../../../domain/exact/rational.ts";
import { createHead } from "../../../../../domain/invoice/dialect/dialect.ts";
import { GPU_MACHINES } from "../../../../../domain/invoice/dialect/keeping.ts";
import type { Mapping } from "../../../../../domain/invoice/dialect/mapped.ts";
import { recognize } from "../../../../../domain/invoice/dialect/recognize.ts";
import { costText, kindsOf, lineOf, linesOf, resultOf, type NamedCells } from "../../../../support/invoice/rows.ts";

describe("a cost report of Oracle", () => {
  const HOUR: NamedCells = {
    "lineItem/referenceNo": "V2.ABC",
    "lineItem/tenantId": "ocid1.tenancy.oc1..t",
    "lineItem/intervalUsageStart": "2026-03-02T10:00Z",
    "lineItem/intervalUsageEnd": "2026-03-02T11:00Z",
    "product/service": "COMPUTE",
    "product/compartmentId": "ocid1.compartment.oc1..c",
    "product/region": "us-phoenix-1",
    "product/availabilityDomain": "hQFy:PHX-AD-1",
    "product/resourceId": "ocid1.instance.oc1.phx.abc",
    "usage/billedQuantity": "8",
    "cost/unitPrice": "10",
    "cost/myCost": "76.5",
    "cost/currencyCode": "USD",
    "product/Description": "OCI - Compute - GPU - H100",
    "cost/skuUnitDescription": "GPU Per Hour",
    "lineItem/isCorrection": "false",
  };

  it("has the hour of a machine by its OCID, with hours of GPUs that are not its own", () => {
    const line = lineOf(HOUR);
    expect(line).toMatchObject({
      cloud: "oci",
      kind: "machine",
      machine: "ocid1.instance.oc1.phx.abc",
      account: "ocid1.compartment.oc1..c",
      from: Date.UTC(2026, 2, 2, 10),
      until: Date.UTC(2026, 2, 2, 11),
      billingFrom: Date.UTC(2026, 2, 1),
      machineHours: undefined,
    });
    expect(costText(line.costs)).toBe("80 76.5 76.5 76.5");
  });

  it("drops other machines, disks and services", () => {
    expect(resultOf({ ...HOUR, "product/Description": "Standard - E4 - OCPU" })).toEqual({ drop: "another machine" });
    const disk = { ...HOUR, "product/service": "BLOCK_STORAGE", "product/Description": "Block Volume - Storage" };
    expect(resultOf(disk)).toEqual({ drop: "of no GPU machine" });
    expect(resultOf({ ...disk, "product/service": "FUNCTIONS", "product/Description": "Calls" })).toEqual({
      drop: "another service",
    });
  });
});

describe("a file with a mapping", () => {
  const ROW: NamedCells = {
    day: "2026-03-02",
    node: "gpu-7",
    usd: "48.5",
    public: "60",
    hours: "24",
    class: "h100.8x",
  };
  const MAPPING: Mapping = {
    from: "day",
    machine: "node",
    effective: "usd",
    list: "public",
    machineHours: "hours",
    currency: { value: "USD" },
    account: { value: "research" },
    capacityType: { value: "reserved" },
  };

  it("has the fields that the mapping names, and values for all lines", () => {
    const line = lineOf(ROW, {}, MAPPING);
    expect({ ...line, costs: costText(line.costs) }).toEqual({
      row: 1,
      cloud: "other",
      payer: "",
      account: "research",
      billingFrom: Date.UTC(2026, 2, 1),
      billingUntil: Date.UTC(2026, 3, 1),
      from: Date.UTC(2026, 2, 2),
      until: Date.UTC(2026, 2, 3),
      kind: "machine",
      machine: "gpu-7",
      region: "",
      zone: "",
      instanceType: "",
      capacityType: "reserved",
      commitment: "",
      reservation: "",
      machineHours: rational(24),
      currency: "USD",
      costs: "60 48.5 48.5 48.5",
      description: "",
      invoice: "",
    });
  });

  it("drops machines without GPUs if the mapping names the instance type", () => {
    const mapping: Mapping = { ...MAPPING, instanceType: "class" };
    expect(resultOf(ROW, {}, mapping)).toEqual({ drop: "another machine" });
    expect(lineOf(ROW, { instanceTypes: new Set(["h100.8x"]) }, mapping).instanceType).toBe("h100.8x");
  });

  it("has the kind of each line, if the mapping names it", () => {
    const mapping: Mapping = { ...MAPPING, kind: "class" };
    expect(kindsOf(linesOf({ ...ROW, class: "support" }, {}, mapping))).toEqual(["support 60 48.5 48.5 48.5"]);
    expect(resultOf(ROW, {}, mapping)).toMatchObject({ column: "kind" });
  });

  it("is refused without the columns that the mapping names", () => {
    const open = (mapping: Mapping): unknown => recognize(createHead(Object.keys(ROW)), GPU_MACHINES, mapping);
    expect(open({ ...MAPPING, machine: "vm" })).toBeUndefined();
    const { currency: _, ...others } = MAPPING;
    expect(open(others)).toBeUndefined();
  });
});
