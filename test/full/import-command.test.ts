import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { playDemo } from "../support/import/demo-past.ts";
import { fillPrometheus } from "../support/import/scraped-prometheus.ts";
import { requirePart } from "../support/parts.ts";
import { freePort } from "../support/ports.ts";
import { startWritablePrometheus, type PrometheusServer } from "../support/prometheus-server.ts";

const UNTIL = hourOf(Date.now());
const FROM = UNTIL - HOUR_MILLIS;
const text = (millis: number): string => `${new Date(millis).toISOString().slice(0, 16)}Z`;
const KINDS = Object.fromEntries(["pods", "nodes", "namespaces", "jobs"].map((kind) => [kind, ["*"]]));

interface Report {
  readonly total: { readonly gpuHours: string; readonly cost: string; readonly coverage: string | null };
  readonly rows: readonly { readonly dimensions: { readonly team: string }; readonly cost: string }[];
}

describe.skipIf(!requirePart("prometheus"))("gpu-ledger import prometheus", () => {
  let folder: CommandFolder;
  let server: PrometheusServer;

  const asked = (...more: string[]): string[] =>
    ["import", "prometheus", "--url", server.url, "--from", text(FROM), "--until", text(UNTIL)].concat(more);

  beforeAll(async () => {
    folder = createCommandFolder();
    server = await startWritablePrometheus();
    const span = { fromMillis: FROM, untilMillis: UNTIL };
    await playDemo(fillPrometheus(server.url), span, { state: { labelsAllowlist: KINDS } });
    const { stdout } = await folder.run(["prices", "list"]);
    folder.write("prices.yaml", stdout);
    folder.write("gpu-ledger.yaml", {
      demo: { enabled: false },
      pricesFile: "prices.yaml",
      server: { listen: `127.0.0.1:${await freePort()}` },
    });
  }, 240_000);
  afterAll(async () => {
    await folder?.dispose();
    await server?.stop();
  });

  test("the hours of an import are charged with teams and list prices, and hours after it are not", async () => {
    const up = folder.start(["up"]);
    await up.address();
    const imported = await folder.run(asked());
    expect([imported.code, imported.stderr]).toEqual([0, expect.stringContaining("100 %")]);
    expect(imported.stdout).toMatch(/^imported \d[\d,]* scrapes with [\d,]+ values/);
    // The progress is removed, because the import is complete.
    expect(readdirSync(join(folder.path, ".gpu-ledger", "imports"))).toEqual([]);
    const sums = async (fromMillis: number, untilMillis: number): Promise<Report> => {
      const span = `${text(fromMillis)}/${text(untilMillis)}`;
      const { stdout, stderr } = await folder.call(["report", span, "--by", "team", "--format", "json"]);
      expect(stderr).toBe("");
      return (JSON.parse(stdout) as { readonly reports: readonly [Report] }).reports[0];
    };
    await expect
      .poll(async () => Number((await sums(FROM, UNTIL)).total.coverage), { timeout: 120_000, interval: 2_000 })
      .toBeGreaterThan(0.9);
    const { total, rows } = await sums(FROM, UNTIL);
    expect(Number(total.cost)).toBeGreaterThan(50);
    expect(rows.map(({ dimensions }) => dimensions.team)).toEqual(
      expect.arrayContaining(["vision", "nlp", "platform"]),
    );
    const sum = rows.reduce((all, { cost }) => all + Math.round(Number(cost) * 1e9), 0);
    expect(sum / 1e9).toBeCloseTo(Number(total.cost), 6);
    // Nothing is known of the hours before and after.
    expect((await sums(FROM - HOUR_MILLIS, FROM)).total.gpuHours).toBe("0");
    expect((await sums(UNTIL, UNTIL + HOUR_MILLIS)).total.gpuHours).toBe("0");
    const explained = await folder.call(["explain", "--span", `${text(FROM)}/${text(UNTIL)}`, "--where", "team=nlp"]);
    expect(explained.stdout).toContain("the pod was imported from Prometheus");
    await up.end("SIGTERM");
  }, 240_000);
});
