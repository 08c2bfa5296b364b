import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { kubeconfigOf } from "../test/support/kubeconfig.ts";
import { LARGE_PLAN, startLargeCluster } from "../test/support/snapshot/large-cluster.ts";
import { ended, ownMegabytes } from "./process.ts";
import { report } from "./report.ts";

const PROGRAM = fileURLToPath(new URL("../cli/main.js", import.meta.url));
const RUNS = 3;

/**
 * A snapshot of a large cluster, by the command in a process of its own. The API server and the exporters are in this process, on the same
 * machine.
 */
export async function benchSnapshot(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-snapshot-"));
  const cluster = await startLargeCluster();
  try {
    const kubeconfig = join(folder, "kubeconfig.json");
    writeFileSync(kubeconfig, kubeconfigOf({ large: cluster.server }));
    const seconds: number[] = [];
    const megabytes: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      const begun = performance.now();
      const child = spawn(process.execPath, [PROGRAM, "snapshot", "--kubeconfig", kubeconfig, "--format", "json"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let most = 0;
      const watch = setInterval(() => (most = Math.max(most, ownMegabytes(child.pid!))), 50);
      const [printed] = await Promise.all([text(child.stdout), ended(child, "gpu-ledger snapshot")]);
      clearInterval(watch);
      seconds.push((performance.now() - begun) / 1000);
      megabytes.push(most);
      if (run === 0) {
        const { total } = JSON.parse(printed) as { readonly total: { readonly gpus: string } };
        report("GPUs", [Number(total.gpus)], "", { atLeast: LARGE_PLAN.nodes * LARGE_PLAN.gpusOfNode });
      }
    }
    report(`${LARGE_PLAN.pods} pods and ${LARGE_PLAN.nodes} exporters`, seconds, "s", { atMost: 60 });
    report("  memory of the process", megabytes, "MB", { atMost: 300 });
  } finally {
    await cluster.stop();
    rmSync(folder, { recursive: true });
  }
}
