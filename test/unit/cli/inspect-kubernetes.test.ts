import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addInspect } from "../../../cli/inspect.ts";
import { container, node, pod } from "../../support/kube-objects.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gpu-ledger-inspect-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function inspect(args: readonly string[], stdin = ""): Promise<string> {
  const chunks: string[] = [];
  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk.toString());
      done();
    },
  });
  const program = new Command().exitOverride();
  addInspect(program, { stdout, stderr: stdout, stdin: Readable.from([Buffer.from(stdin)]), env: {}, version: "0" });
  await program.parseAsync(["inspect", ...args], { from: "user" });
  return chunks.join("");
}

const LIST = JSON.stringify({
  kind: "List",
  items: [
    pod({ limits: { "nvidia.com/gpu": 2 }, metadata: { labels: { team: "vision" } } }),
    pod({
      metadata: { name: "odd", uid: "2", annotations: { "gpu-fraction": "0.5" } },
      spec: { containers: [container({ "nvidia.com/gpu": "500m" })] },
    }),
    node({ "nvidia.com/gpu.count": "8", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" }, { "nvidia.com/gpu": 8 }),
    {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q", namespace: "research" },
      spec: { hard: { "requests.nvidia.com/gpu": 4 } },
    },
    { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } },
  ],
});

describe("gpu-ledger inspect of Kubernetes objects", () => {
  it("prints a table for each kind, the remarks and the ignored objects, from a file", async () => {
    const file = join(folder, "list.json");
    writeFileSync(file, LIST);
    const text = await inspect([file]);
    expect(text).toMatch(/^4 read, 1 left out\n/);
    expect(text).toMatch(
      /^research\/train-0 +node-1 +whole +2 × nvidia\.com\/gpu +- +Pod train-0 +- +other +- +team=vision$/m,
    );
    expect(text).toMatch(/^research\/odd +node-1 +fraction +1 × 0\.5 GPU /m);
    expect(text).toMatch(/^node-1 +8 +its labels +NVIDIA-H100-80GB-HBM3 /m);
    expect(text).toMatch(/^ResourceQuota +research\/q +\{"hard":\{"nvidia\.com\/gpu":4\},"used":\{\}\}$/m);
    expect(text).toMatch(/^research\/odd +quantity +nvidia\.com\/gpu of container main: "500m" is not a whole number/m);
    expect(text).toMatch(/^Secret s +the ledger does not read Secret of v1$/m);
  });

  it("prints JSON of standard input", async () => {
    const printed = JSON.parse(await inspect(["-", "--format", "json"], LIST)) as { source: string; objects: object[] };
    expect(printed.source).toBe("-");
    expect(printed.objects).toMatchObject([
      { what: "workload" },
      { what: "workload" },
      { what: "node" },
      { what: "cluster" },
    ]);
  });

  it("still reads an exporter's page as a page", async () => {
    const text = await inspect(["-"], 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="h"} 50\n');
    expect(text).toMatch(/^dcgm-exporter on h: 1 sample|^dcgm-exporter: 1 sample/);
  });
});
