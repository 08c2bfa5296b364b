import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProgram } from "../../../../cli/program.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "gpu-ledger-opencost-"))));
afterEach(() => rmSync(folder, { recursive: true }));

async function run(...args: readonly string[]) {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    streams[name].on("data", (chunk: Buffer) => (printed[name] += chunk.toString()));
  const program = createProgram({ ...streams, stdin: new PassThrough(), env: {} });
  return { code: await program.run(["prices", ...args]), ...printed };
}

/** Carries a file over, and checks the printed book as `prices check` does. Returns the lines of its entries, and standard error. */
async function carried(name: string, content: string, ...options: readonly string[]) {
  writeFileSync(join(folder, name), content);
  const { code, stdout, stderr } = await run("from-opencost", join(folder, name), "--from", "2026-03-01", ...options);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  writeFileSync(join(folder, "prices.yaml"), stdout);
  writeFileSync(join(folder, "config.yaml"), "{}");
  const check = await run("check", join(folder, "prices.yaml"), "--config", join(folder, "config.yaml"));
  expect(check).toMatchObject({ code: 0 });
  const entries = stdout.split("\n").filter((line) => line.startsWith("  - "));
  return { entries: entries.map((line) => line.slice(4)), stderr, stdout };
}

const csv = (...rows: readonly string[]): string =>
  [
    "EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version",
    ...rows,
    "",
  ].join("\n");

describe("OpenCost's custom pricing as a price book", () => {
  /** The keys of configs/default.json of OpenCost, with other values and a price of spot GPUs. */
  const PRICING = {
    provider: "custom",
    description: "Prices of the lab",
    CPU: "0.03",
    spotCPU: "0.006",
    RAM: "0.004",
    spotRAM: "0.0008",
    GPU: "2.950000000000000001",
    spotGPU: "3.08e-1",
    storage: "0.00005479452",
    zoneNetworkEgress: "0.01",
    natGatewayIngress: "0.045",
    defaultLBPrice: "0.02",
    discount: "30%",
    negotiatedDiscount: "0%",
    gpuLabel: "gpu",
    gpuLabelValue: "true",
    currencyCode: "EUR",
  };

  it("has the prices of GPUs with all digits, and names the rest", async () => {
    const { stdout, stderr } = await carried("default.json", JSON.stringify(PRICING));
    expect(stdout).toBe(`# The prices of OpenCost in "default.json". docs/prices.md explains the entries.
# Prices are of an hour. Kubecost, and OpenCost before its pull request 3830, read the values of the ConfigMap pricing-configs as
# prices of a month: divide such values by 730.
# Left out: 12
#   4: a price of CPU or memory (CPU, spotCPU, RAM, spotRAM)
#   1: a price of storage (storage)
#   2: a price of networks (zoneNetworkEgress, natGatewayIngress)
#   1: a price of load balancers (defaultLBPrice)
#   2: OpenCost takes discounts off CPU and memory, not off GPUs (discount, negotiatedDiscount)
#   2: this ledger finds GPUs by their exporters (gpuLabel, gpuLabelValue)
currency: EUR
prices:
  - {"match":{},"from":"2026-03-01","per":"gpu-hour","list":"2.950000000000000001"}
  - {"match":{"capacityType":"spot"},"from":"2026-03-01","per":"gpu-hour","list":"0.308"}
`);
    expect(stderr).toContain("Prices carried over: 2\nLeft out: 12\n  4: a price of CPU or memory");
  });

  it("finds spot nodes by the label of OpenCost", async () => {
    const { entries } = await carried(
      "default.json",
      JSON.stringify({ GPU: "0.95", spotGPU: "0.3", spotLabel: "pool", spotLabelValue: "cheap" }),
    );
    expect(entries).toEqual([
      '{"match":{},"from":"2026-03-01","per":"gpu-hour","list":"0.95"}',
      '{"match":{"nodeLabel":{"pool":"cheap"}},"from":"2026-03-01","per":"gpu-hour","list":"0.3"}',
    ]);
  });

  it("is read from a ConfigMap and from the values of the chart, whose numbers keep their digits", async () => {
    const entries = ['{"match":{},"from":"2026-03-01","per":"gpu-hour","list":"0.12345678901234567891"}'];
    const configMap = { kind: "ConfigMap", data: { "default.json": '{"CPU": "1", "GPU": "0.12345678901234567891"}' } };
    expect((await carried("map.yaml", JSON.stringify(configMap))).entries).toEqual(entries);
    const data = { kind: "ConfigMap", data: { CPU: "1", GPU: "0.12345678901234567891" } };
    expect((await carried("map.json", JSON.stringify(data))).entries).toEqual(entries);
    const values =
      "opencost:\n  exporter: { resources: { requests: { cpu: 10m } } }\n  customPricing:\n    enabled: true\n    costModel:\n      CPU: 1\n      GPU: 0.12345678901234567891\n";
    const { stdout, entries: ofValues } = await carried("values.yaml", values, "--currency", "gbp");
    expect(ofValues).toEqual(entries);
    expect(stdout).toContain("\ncurrency: GBP\n");
  });
});

describe("OpenCost's CSV pricing as a price book", () => {
  it("has nodes by instance type and by label, as OpenCost finds them", async () => {
    const label = "metadata.labels.node.kubernetes.io/instance-type";
    const { entries, stderr } = await carried(
      "prices.csv",
      `# of the lab\n${csv(
        "2028-01-06 23:34:45 UTC,,eastus2,node,spec.providerID,Standard_ND96asr_v4,27.20,v1",
        "2028-01-06 23:34:45 UTC,,eastus2,node,spec.providerID,Standard_ND96asr_v4,28,v1",
        `,gx11,fsn1,node,${label},gx11,1.25,`,
        ",i-0a1b,,node,spec.providerID,,0.5,",
        ",ssd,,pv,spec.storageClassName,,0.000072,",
        ",gpu-a,,node,metadata.name,,0.5,",
        ",old,,node,metadata.labels.other,,0.5,",
        "too,few",
        ",H100,,node,metadata.labels.machines,,12,",
        ",H100,,node,metadata.labels.machines,,12.5,",
        ",A100,,node,metadata.labels.machines,dgx,free,",
        ",A100,,node,metadata.labels.machines,dgx,-1,",
        ",L4,us,node,metadata.labels.machines,dgx,3,",
      )}`,
    );
    expect(entries).toEqual([
      '{"match":{"instanceType":"Standard_ND96asr_v4","region":"eastus2"},"from":"2026-03-01","per":"node-hour","list":"27.2"}',
      '{"match":{"instanceType":"gx11","region":"fsn1"},"from":"2026-03-01","per":"node-hour","list":"1.25"}',
      '{"match":{"nodeLabel":{"machines":"H100"}},"from":"2026-03-01","per":"node-hour","list":"12.5"}',
      '{"match":{"nodeLabel":{"machines":"L4"},"instanceType":"dgx","region":"us"},"from":"2026-03-01","per":"node-hour","list":"3"}',
    ]);
    expect(stderr).toBe(`Prices carried over: 4
Left out: 9
  1: it has not 8 columns (line 10: few)
  2: another row has the price of the same nodes (line 4: Standard_ND96asr_v4, line 11: H100)
  2: a price of one machine by its name or id: give such machines a label, or an \`owned\` entry with \`machines\` (line 6: i-0a1b, line 8: gpu-a)
  1: a price of storage (line 7: ssd)
  1: OpenCost reads only the field of the last row of nodes, metadata.labels.machines (line 9: old)
  2: it is not a price of 0 or more (line 13: A100, line 14: A100)
`);
  });

  it("has GPUs by their label, and leaves out the nodes to whose price OpenCost adds them", async () => {
    const { entries, stdout } = await carried(
      "prices.csv",
      csv(
        "2028-01-06 23:34:45 UTC,Reserved,,node,metadata.labels.use,,0.654795,",
        "2028-01-06 23:34:45 UTC,a100-ondemand,,gpu,nvidia.com/gpu_type,,0.5,",
        "2028-01-06 23:34:45 UTC,a100-reserved,,gpu,nvidia.com/gpu_type,,1,",
        "2028-01-06 23:34:45 UTC,A100,,gpu,gpu.nvidia.com/class,,1,",
        "2028-01-06 23:34:45 UTC,foo,,gpulabel,foo,,0.75,",
      ),
    );
    expect(entries).toEqual([
      '{"match":{"nodeLabel":{"nvidia.com/gpu_type":"a100-ondemand"}},"from":"2026-03-01","per":"gpu-hour","list":"0.5"}',
      '{"match":{"nodeLabel":{"nvidia.com/gpu_type":"a100-reserved"}},"from":"2026-03-01","per":"gpu-hour","list":"1"}',
    ]);
    expect(stdout).toContain(`# OpenCost does not distinguish capitals in the values of labels. These entries do.
# Left out: 3
#   1: the price of a node without its GPUs, to which OpenCost adds theirs (line 2: Reserved)
#   1: a label other than nvidia.com/gpu_type: a node can have both, and then it has no price (line 5: A100)
#   1: AssetClass is none of node, gpu and pv (line 6: foo)
currency: USD
`);
  });

  it("names 5 rows of a reason, and counts the others", async () => {
    const volumes = Array.from({ length: 7 }, (_, index) => `,disk-${index},,pv,metadata.name,,0.1,`);
    const { stderr } = await carried("prices.csv", csv(",,,node,metadata.name,g5.xlarge,1,", ...volumes));
    expect(stderr).toContain("  7: a price of storage (line 3: disk-0, ");
    expect(stderr).toContain("line 7: disk-4, and 2 more)\n");
  });
});

describe("a file without prices for a book", () => {
  const refusal = async (name: string, content: string, ...options: readonly string[]) => {
    writeFileSync(join(folder, name), content);
    const { stdout, ...outcome } = await run("from-opencost", join(folder, name), ...options);
    expect(stdout).toBe("");
    return outcome;
  };

  it("is refused with the reason", async () => {
    const onlyCpu = await refusal("default.json", '{"CPU": "0.03"}');
    expect(onlyCpu.code).toBe(1);
    expect(onlyCpu.stderr).toContain("has no price of GPUs or nodes that a price book can have");
    const other = await refusal("other.yaml", "a: 1\n");
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("has neither OpenCost's custom pricing (CPU, RAM, GPU) nor the 8 columns");
    expect((await refusal("broken.json", '{"CPU": ')).code).toBe(2);
    expect((await refusal("a.json", '{"GPU": "1"}', "--currency", "XYZ")).stderr).toContain(
      '--currency: "XYZ" is not a currency of ISO 4217',
    );
    expect((await refusal("a.json", '{"GPU": "1"}', "--from", "soon")).code).toBe(2);
    const missing = await run("from-opencost", join(folder, "missing.json"));
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain("ENOENT");
  });
});
