import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { periodOf } from "../../domain/period.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { readMachines } from "../../processors/ledger/invoiced/read-nodes.ts";
import { storeExport } from "../../processors/ledger/invoiced/store-export.ts";
import { settle } from "../../processors/ledger/term/settle.ts";
import { reconcile } from "../../reports/reconcile/reconcile.ts";
import { statementsOf } from "../../reports/reconcile/statement.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { exportLines, linesOf } from "../../scenarios/invoices.ts";
import { withDemoLedger } from "../../services/demo-config.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { connectTo } from "../support/database.ts";
import { billsOfDemo, differencesOf, LATE_MILLIS, type BothBills } from "../support/import/both-bills.ts";
import { requirePart } from "../support/parts.ts";
import { startWritablePrometheus, type PrometheusServer } from "../support/prometheus-server.ts";

const FROM = Date.UTC(2026, 8, 14, 6);
const SPAN = { fromMillis: FROM, untilMillis: FROM + HOUR_MILLIS };
const GPUS = 48;
const MOST_GPUS_OF_POD = 8;
const text = (millis: number): string => `${new Date(millis).toISOString().slice(0, 16)}Z`;

describe.skipIf(!requirePart("prometheus"))("an hour that was collected, and imported from a Prometheus", () => {
  let both: BothBills;
  let server: PrometheusServer;
  let folder: CommandFolder;

  const asked = (...more: string[]): string[] =>
    ["import", "prometheus", "--url", server.url, "--from", text(FROM), "--until", text(SPAN.untilMillis)].concat(more);

  beforeAll(async () => {
    folder = createCommandFolder();
    folder.write("gpu-ledger.yaml", { demo: { enabled: false }, store: { rawDays: 3_000 } });
    server = await startWritablePrometheus();
    both = await billsOfDemo(server, "import_hour", SPAN, GPUS);
  }, 300_000);
  afterAll(async () => {
    await folder?.dispose();
    await server?.stop();
  });

  test("the bills have the same GPU-hours in all, and a cost for each line", () => {
    const hours = ({ lines }: BothBills["collected"]): bigint =>
      lines.reduce((sum, { gpuHours }) => sum + gpuHours, 0n);
    expect(hours(both.imported)).toBe(hours(both.collected));
    expect(both.imported.lines.filter(({ cost }) => cost === undefined)).toHaveLength(
      both.collected.lines.filter(({ cost }) => cost === undefined).length,
    );
    expect(both.collected.lines.length).toBeGreaterThan(50);
  });

  test("each line of a team, a state and a pod is the same, but for the time until the next scrape of an ended pod", () => {
    for (const { line, gpuMinutes } of differencesOf(both, ["team", "state", "namespace", "pod"]))
      expect([line, Math.abs(gpuMinutes) <= (LATE_MILLIS / 60_000) * MOST_GPUS_OF_POD]).toEqual([line, true]);
    const byTeam = differencesOf(both, ["team", "state"]);
    const minutes = byTeam.reduce((sum, { gpuMinutes }) => sum + Math.abs(gpuMinutes), 0);
    // The GPUs have 2,880 GPU-minutes.
    expect(minutes).toBeLessThan(1);
  });

  test("the samples are read by remote read, and there is no remark on exported labels", () => {
    expect(both.import.way).toBe("remote read");
    expect(both.import.counts.scrapes).toBeGreaterThan(1_000);
    expect(both.import.remarks.map(({ text }) => text).filter((text) => text.includes("no labels"))).toEqual([]);
  });

  test("an export of the hour prices the nodes that were imported, and the sum equals it", async () => {
    const store = connectTo("import_hour_imported");
    const machines = new Set((await readMachines(store)).values());
    const written = [...machines, "never-a-node"].map((machine) => ({ machine, hours: "1", effective: "7.13" }));
    const period = { start: FROM, end: SPAN.untilMillis };
    const lines = linesOf(exportLines.parse(written), { period, currency: "USD" });
    const version = { source: "provider", name: "bill", content: "1", readBy: "test", readAt: FROM, isWhole: true };
    await storeExport(store, version, [lines], () => ({ rows: lines.length, dropped: {} }));
    const config = parseConfig("invoices: [{ name: provider }]", { source: "test", folder: ".", env: {} });
    const window = { cluster: "demo", windowStart: FROM };
    const turn = { generation: 100, now: SPAN.untilMillis };
    const { breaches } = await settle(store, [window], rulesOfConfig(withDemoLedger(config)).rules, turn);
    expect(breaches).toEqual([]);
    const [statement] = statementsOf(await reconcile(store, { period: periodOf(FROM), policy: "default" }));
    await store.close();
    const { effectiveRows, effective } = statement!;
    expect(machines.size).toBeGreaterThan(10);
    expect(Number(effective)).toBe(Math.round(713 * (machines.size + 1)) / 100);
    expect(effectiveRows).toContainEqual({ what: "not charged: machines that joined no cluster", amount: "7.13" });
    const [nodes] = effectiveRows;
    expect(nodes!.what).toBe("nodes of demo");
    // A spot node was away for some minutes.
    expect(Number(nodes!.amount)).toBeGreaterThan(7.13 * (machines.size - 1));
  });

  test("the dry run of the command has what the server has, and what is missing", async () => {
    const table = await folder.call(asked("--dry-run"));
    expect(table.stderr).toBe("");
    expect(table.stdout).toContain("dcgm-exporter");
    expect(table.stdout).toContain("no gap of all GPUs");
    expect(table.stdout).toContain("Nothing was written.");
    const { code, stdout } = await folder.call(asked("--dry-run", "--format", "json"));
    expect(code).toBe(0);
    const plan = JSON.parse(stdout) as { way: string; intervalSeconds: number; missing: readonly string[] };
    expect([plan.way, plan.intervalSeconds]).toEqual(["remote read", 30]);
    expect(plan.missing.filter((sentence) => sentence.includes("exports no labels"))).toEqual([]);
  });

  test("without a running ledger, and with wrong options, the command has a sentence", async () => {
    const none = await folder.call(asked());
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("it runs only while `gpu-ledger up` runs")]);
    const old = await folder.call([...asked(), "--from", "2016-01-01"]);
    expect([old.code, old.stderr]).toEqual([1, expect.stringContaining("set store.rawDays to at least")]);
    for (const [wrong, sentence] of [
      [["--from", "yesterday"], "--from yesterday: must be a date"],
      [["--max-load", "2"], "--max-load 2: must be above 0 and at most 1"],
      [["--match", "cluster"], "--match cluster: must be label=value"],
      [["--url", "prometheus:9090"], "must be an address with http or https"],
    ] as const) {
      const { code, stderr } = await folder.call([...asked(), ...wrong]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    }
    const other = await folder.call(asked("--match", "cluster=other"));
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("no series of a known GPU exporter")]);
  });
});
