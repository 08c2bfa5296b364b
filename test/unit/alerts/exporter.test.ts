import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CATALOG } from "../../../alerts/catalog/catalog.ts";
import { exporterCounters } from "../../../alerts/exporter/counters.ts";
import { exporterFiles } from "../../../alerts/exporter/files.ts";
import { lackingAlerts } from "../../../alerts/exporter/lacking.ts";
import { alertFiles } from "../../../alerts/files.ts";
import { ruleGroups } from "../../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import { namesOf } from "../../../alerts/series/exporter-names.ts";
import { renderAlertsPage } from "../../../alerts/render/table.ts";
import { inspectPage } from "../../../collectors/exporters/inspect.ts";
import { rulesFor } from "../../support/rules/closure.ts";
import { alertOptionsOf, loadAlertConfig } from "../../../cli/alerts/config.ts";

const GROUPS = ruleGroups(DEFAULT_ALERT_OPTIONS);

describe("the required metrics of an exporter", () => {
  it("are a counter file with everything that the rules read, by the names of either DCGM", () => {
    for (const names of ["classic", "dcgm-4.7"] as const) {
      const page = exporterCounters(GROUPS, names)
        .filter(({ type }) => type !== "label")
        .map(({ field }) => `${field}{gpu="0",UUID="GPU-1"} 1`);
      const inspection = inspectPage(Buffer.from(`${page.join("\n")}\n`));
      const { values, unknown } = "devices" in inspection ? inspection.devices[0]! : { values: {}, unknown: {} };
      expect(lackingAlerts(new Set([...Object.keys(values), ...Object.keys(unknown)]))).toEqual([]);
    }
  });

  it("have three fields a line, as dcgm-exporter reads them, and each field once", () => {
    const { text } = exporterFiles(GROUPS, "classic").find(({ name }) => name === "counters.csv")!;
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(lines.filter((line) => line.split(",").length !== 3)).toEqual([]);
    const fields = lines.map((line) => line.split(",")[0]);
    expect(new Set(fields).size).toBe(fields.length);
  });

  it("are the same in the ConfigMap, and both charts honor labels", () => {
    const files = new Map(exporterFiles(GROUPS, "classic").map(({ name, text }) => [name, text]));
    const read = (name: string) => parse(files.get(name)!) as Record<string, Record<string, unknown>>;
    expect(Object.values(read("configmap.yaml")["data"]!)).toEqual([files.get("counters.csv")]);
    const monitor = { enabled: true, honorLabels: true };
    expect(read("dcgm-exporter.values.yaml")["serviceMonitor"]).toMatchObject(monitor);
    expect(read("gpu-operator.values.yaml")["dcgmExporter"]).toMatchObject({
      config: { name: "gpu-ledger-counters" },
      serviceMonitor: monitor,
    });
  });

  it("are listed for each alert: the alert reads every counter that it names", () => {
    const wrong = CATALOG.flatMap(({ name, counters = [] }) => {
      const text = rulesFor(GROUPS, [name])
        .flatMap((group) => group.rules.map((rule) => rule.expr))
        .join("\n");
      const isRead = (column: string): boolean =>
        namesOf(column).some((reading) => reading.names.some((each) => text.includes(each)));
      return counters.flat().flatMap((column) => (isRead(column) ? [] : [`${name}: ${column}`]));
    });
    expect(wrong).toEqual([]);
  });

  it("leave a known list of alerts incomplete with the default counters of 4.8", () => {
    const stock = exporterCounters([], "classic").flatMap(({ field }) =>
      field.startsWith("DCGM_EXP") || field.endsWith("MEM_MAX_OP_TEMP") ? [] : [`${field}{gpu="0",UUID="GPU-1"} 1`],
    );
    const inspection = inspectPage(Buffer.from(`${stock.join("\n")}\n`));
    const given = "devices" in inspection ? Object.keys(inspection.devices[0]!.values) : [];
    expect(new Set(lackingAlerts(new Set(given)).map(({ alert }) => alert))).toEqual(
      new Set([
        "GPUXidHardwareFault",
        "GPUXidMemoryDegraded",
        "GPUXidApplicationError",
        "GPUXidOther",
        "GPUXidRepeatedOnSameGPU",
        "GPUHealthCheckFailed",
        "GPUUncorrectableECC",
        "GPUMemoryRepairPending",
        "GPUHardwareThermalSlowdown",
        "GPUSoftwareThermalThrottling",
        "GPUThermalMarginLow",
        "GPUThermalMarginExceeded",
        "GPUPowerBrake",
        "GPUNVLinkErrors",
      ]),
    );
  });
});

describe("the generated files", () => {
  it("are committed as generated", () => {
    const defaults = alertOptionsOf(loadAlertConfig(undefined, {}).config);
    const contacts = { platform: {}, teams: {}, repeat: { page: "4h", ticket: "24h" } };
    const metadata = { namespace: undefined, labels: {} };
    const files = [
      ...(["fragment", "full"] as const).flatMap((alertmanager) =>
        alertFiles(defaults, contacts, { rules: "files", metadata, alertmanager }).map(
          (file) => ["deploy/prometheus", file] as const,
        ),
      ),
      ...exporterFiles(GROUPS, "classic").map((file) => ["deploy/exporter", file] as const),
    ];
    for (const [folder, { name, text }] of files) expect(readFileSync(`${folder}/${name}`, "utf8")).toBe(text);
  });

  it("list every alert in the documents", () => {
    const words = (text: string): readonly string[] => text.split(/[\s|-]+/);
    expect(words(readFileSync("docs/alerts.md", "utf8"))).toEqual(words(renderAlertsPage()));
  });
});
