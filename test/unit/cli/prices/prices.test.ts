import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createProgram } from "../../../../cli/program.ts";

const GOOD = `currency: USD
prices:
  - { match: { model: "NVIDIA-A100*" }, from: 2026-01-01, per: gpu-hour, list: "4.10", contracted: "3.60" }
  - { match: { instanceType: p4d.24xlarge, capacityType: spot }, from: 2026-01-01, until: 2026-04-01, per: node-hour, list: "13.1" }
  - match: { pool: dgx }
    from: 2026-01-01
    owned: { inService: 2026-01-01, purchase: "48000", months: 48, overheadPerMonth: "500" }
`;
const TIES = `currency: USD
prices:
  - { match: { nodeLabel: { rack: r7 } }, from: 2026-01-01, per: gpu-hour, list: "1" }
  - { match: { nodeLabel: { row: b } }, from: 2026-01-01, until: 2026-02-01, per: gpu-hour, list: "2" }
  - { match: { pool: a }, from: 2026-01-01, until: 2026-02-01, per: gpu-hour, list: "3" }
  - { match: { pool: a }, from: 2026-03-01, per: gpu-hour, list: "4" }
  - match: { pool: b }
    from: 2026-01-01
    until: 2026-05-01
    owned: { inService: 2026-06-01, purchase: "1", months: 1 }
`;
const BROKEN = `currency: USD
prices:
  - { match: {}, from: 2026-01-01, per: gpu-hour, list: "-1" }
  - { match: { pool: a }, from: 2026-01-01, per: gpu-hour, list: "1", currency: EUR }
  - { match: { pool: b }, from: 2026-01-01, per: gpu-hour, list: "1", currency: DM }
rates: [{ from: 2026-01-02, currency: EUR, rate: "1.1" }]
`;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gpu-ledger-prices-"));
  const files = {
    "good.yaml": GOOD,
    "ties.yaml": TIES,
    "broken.yaml": BROKEN,
    "config.yaml": "pricesFile: good.yaml\ncluster: prod\n",
    "broken-config.yaml": "pricesFile: broken.yaml\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function prices(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = { stdout: "", stderr: "" };
  stdout.on("data", (chunk: Buffer) => (printed.stdout += chunk.toString()));
  stderr.on("data", (chunk: Buffer) => (printed.stderr += chunk.toString()));
  const program = createProgram({ stdout, stderr, stdin: new PassThrough(), env: {} });
  const placed = args.map((arg) => (arg.endsWith(".yaml") ? join(folder, arg) : arg));
  const code = await program.run(["prices", ...placed]);
  return { code, ...printed };
}

describe("gpu-ledger prices check", () => {
  it("finds nothing in a good book, whether in the configuration or in a file", async () => {
    for (const args of [["good.yaml"], ["--config", "config.yaml"]]) {
      const { code, stdout } = await prices("check", ...args);
      expect(code).toBe(0);
      expect(stdout).toMatch(/: 3 entries, no problems found\n$/);
    }
  });

  it("lists ties, gaps and entries that never win, with exit code 1", async () => {
    const { code, stdout, stderr } = await prices("check", "ties.yaml");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("ties.yaml: 3 problems\n") as string });
    const lines = stdout.split("\n").slice(2);
    expect(lines).toEqual([
      expect.stringMatching(/^problem +node +where +from +until +what$/),
      expect.stringMatching(
        /^tie +- +prices\[0\], prices\[1\] +2026-01-01 +2026-02-01 +a node can match these entries equally/,
      ),
      expect.stringMatching(/^gap +- +prices\[2\], prices\[3\] +2026-02-01 +2026-03-01 +their nodes have no price/),
      expect.stringMatching(/^never +- +prices\[4\] +2026-01-01 +2026-05-01 +the entry never sets a price/),
      "",
    ]);
  });

  it("lists the mistakes of a file with their lines: a negative price, a missing rate, an unknown currency", async () => {
    const { code, stdout } = await prices("check", "broken.yaml", "--format", "json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      entries: 0,
      problems: [
        { kind: "mistake", keys: ["prices[0].list"], line: 3, message: `"-1" is not 0 or more` },
        {
          kind: "mistake",
          keys: ["prices[2].currency"],
          line: 5,
          message: `"DM" is not a currency of ISO 4217, such as USD`,
        },
        {
          kind: "mistake",
          keys: ["prices[1].currency"],
          line: 4,
          message: `"EUR" is not a currency with a rate from the entry's first day on (rates)`,
        },
      ],
    });
  });

  it.each([
    [["check", "nowhere.yaml"], "cannot be read"],
    [["check", "--config", "broken-config.yaml"], `prices[0].list (line 3): "-1" is not 0 or more`],
    [["check", "good.yaml", "--from", "yesterday"], "--from yesterday: must be a date such as 2026-03-01"],
    [["check", "good.yaml", "--from", "2026-03-01", "--until", "2026-03-01"], "--from: must be before --until"],
    [["check", "good.yaml", "--format", "xml"], "Allowed choices are table, json"],
    [["show", "good.yaml"], "describe the node, with --node, --instance-type"],
    [["show", "good.yaml", "--node-label", "rack"], "--node-label rack: must be name=value"],
    [["show", "good.yaml", "--capacity-type", "rented"], "Allowed choices are on-demand, spot, reserved, owned"],
  ])("explains why %j is refused, with exit code 2", async (args, sentence) => {
    const { code, stderr } = await prices(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  });
});

describe("gpu-ledger prices show", () => {
  it("prints the entry that prices a node at a time, with its beginning and end", async () => {
    const spot = ["--instance-type", "p4d.24xlarge", "--capacity-type", "spot", "--model", "NVIDIA-A100-SXM4-40GB"];
    const { code, stdout } = await prices("show", "--config", "config.yaml", ...spot, "--at", "2026-03-01");
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "1 node at 2026-03-01",
      "",
      expect.stringMatching(
        /^node +instance type +model +capacity +priced by +from +until +per +list +contracted +effective +currency$/,
      ),
      expect.stringMatching(
        /^prod\/- +p4d\.24xlarge +NVIDIA-A100-SXM4-40GB +spot +p4d\.24xlarge spot from 2026-01-01 +2026-01-01 +2026-04-01 +node-hour +13\.1 +13\.1 +13\.1 +USD$/,
      ),
      "",
    ]);
    const later = await prices("show", "good.yaml", ...spot, "--at", "2026-04-01", "--format", "json");
    expect(JSON.parse(later.stdout)).toEqual([
      {
        cluster: "default",
        node: "",
        instanceType: "p4d.24xlarge",
        model: "NVIDIA-A100-SXM4-40GB",
        capacityType: "spot",
        status: "priced",
        entries: ["NVIDIA-A100* from 2026-01-01"],
        from: "2026-04-01",
        price: { per: "gpu-hour", currency: "USD", list: "4.1", contracted: "3.6", effective: "3.6" },
      },
    ]);
  });

  it("prints the cost of an owned machine in the month: 48,000 ÷ 48 + 500 = 1,500", async () => {
    const { stdout } = await prices(
      "show",
      "good.yaml",
      "--pool",
      "dgx",
      "--at",
      "2026-02-14T10:00:00Z",
      "--format",
      "json",
    );
    expect(JSON.parse(stdout)).toMatchObject([
      { entries: ["dgx from 2026-01-01"], price: { per: "month", list: "1500", effective: "1500" } },
    ]);
  });

  it("prints that a node has no price, or that entries tie", async () => {
    const nothing = await prices("show", "good.yaml", "--node", "gpu-a", "--cluster", "lab", "--at", "2026-02-01");
    expect(nothing.stdout).toMatch(/^lab\/gpu-a +- +- +- +nothing +- +- /m);
    const labels = ["--node-label", "rack=r7", "row=b"];
    const tied = await prices("show", "ties.yaml", ...labels, "--at", "2026-01-15");
    expect(tied.stdout).toMatch(/ tied: rack=r7 from 2026-01-01, row=b from 2026-01-01 +2026-01-01 +2026-02-01 /);
  });

  it("prints only the mistakes of a book that has some", async () => {
    const { code, stdout, stderr } = await prices("show", "broken.yaml", "--model", "x");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`prices[0].list (line 3): "-1" is not 0 or more`);
  });
});
