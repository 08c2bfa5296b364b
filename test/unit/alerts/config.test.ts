import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ALERT_NAMES } from "../../../alerts/catalog/catalog.ts";
import { ruleGroups } from "../../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import {
  alertConfigJsonSchema,
  alertConfigSchema,
  alertOptionsOf,
  loadAlertConfig,
} from "../../../cli/alerts/config.ts";
import { ConfigError } from "../../../runtime/config/config-error.ts";
import { temporaryFolder } from "../../support/folder.ts";

function read(text: string) {
  const path = join(temporaryFolder("alerts"), "alerts.yaml");
  writeFileSync(path, text);
  return loadAlertConfig(path, {}).config;
}

function problemsOf(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "";
}

describe("the alerts' configuration", () => {
  it("has the generator's defaults for missing keys", () => {
    expect(alertOptionsOf(loadAlertConfig(undefined, {}).config)).toMatchObject({
      ...DEFAULT_ALERT_OPTIONS,
      server: "http://127.0.0.1:8080",
      grafana: "http://127.0.0.1:3000",
    });
  });

  it("has no links to pages or dashboards that do not exist", () => {
    expect(alertOptionsOf(read("{ server: none, grafana: none }"))).toMatchObject({
      server: undefined,
      grafana: undefined,
    });
  });

  it("has an example with every key and every alert, and with the default numbers", () => {
    const { config } = loadAlertConfig("config/alerts.example.yaml", {});
    expect(Object.keys(config).toSorted()).toEqual(Object.keys(alertConfigSchema.shape).toSorted());
    expect(Object.keys(config.alerts).toSorted()).toEqual([...ALERT_NAMES].toSorted());
    const { alerts } = alertOptionsOf(config);
    expect(ruleGroups({ ...DEFAULT_ALERT_OPTIONS, alerts })).toEqual(ruleGroups(DEFAULT_ALERT_OPTIONS));
  });

  it("has a committed JSON Schema that equals the generated one", () => {
    expect(JSON.parse(readFileSync("config/alerts.schema.json", "utf8"))).toEqual(
      JSON.parse(JSON.stringify(alertConfigJsonSchema())),
    );
  });

  it.each([
    [
      "an unknown alert",
      "alerts: { GPUTooGood: { for: 5m } }",
      "alerts.GPUTooGood (line 1): no such key; config/alerts.example.yaml has every key",
    ],
    [
      "an unknown number",
      "alerts: { GPUAllocatedIdle: { treshold: 0.1 } }",
      "alerts.GPUAllocatedIdle.treshold (line 1): no such key, the nearest is threshold; config/alerts.example.yaml has every key",
    ],
    [
      "a negative duration",
      "alerts: { GPUPowerBrake: { for: -5m } }",
      'alerts.GPUPowerBrake.for (line 1): "-5m" is not a duration from 0s to 7d',
    ],
    [
      "a threshold out of range",
      "alerts: { HighGPUMemoryUsage: { threshold: 90 } }",
      "alerts.HighGPUMemoryUsage.threshold (line 1): 90 is not a number from 0 to 1: used part of the memory",
    ],
    [
      "an unknown severity",
      "alerts: { GPUPowerBrake: { severity: bad } }",
      'alerts.GPUPowerBrake.severity (line 1): "bad" is not one of: critical, warning, info',
    ],
    [
      "a team's number of an alert without a team",
      "teams: { vision: { GPUPowerBrake: { share: 0.1 } } }",
      "teams.vision.GPUPowerBrake (line 1): no such key; config/alerts.example.yaml has every key",
    ],
    ["an invalid group", "groups: [thermic]", 'groups[0] (line 1): "thermic" is not one of: telemetry, xid'],
    [
      "invalid matchers",
      "selectors: { series: job=x }",
      'selectors.series (line 1): "job=x" is not matchers of PromQL',
    ],
    ["an invalid pattern", 'exporterPods: "("', 'exporterPods (line 1): "(" is not a regular expression'],
    ["an invalid label", "labels: { a-b: c }", "labels.a-b (line 1)"],
    ["an invalid address", "server: here", 'server (line 1): "here" is not an http:// or https:// address, or none'],
    [
      "hours that end before they begin",
      'workingHours: { from: "18:00", until: "08:00" }',
      'workingHours.until (line 1): "08:00" is not after from',
    ],
    [
      "an unknown time zone",
      "workingHours: { timeZone: Mars/Olympus }",
      'workingHours.timeZone (line 1): "Mars/Olympus" is not a time zone, such as Europe/Berlin',
    ],
  ])("refuses %s, and names the key, the value and the allowed values", (_, text, message) => {
    expect(problemsOf(text)).toContain(message);
  });
});
