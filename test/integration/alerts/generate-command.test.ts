import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createCommandFolder, type CommandFolder } from "../../support/command.ts";
import { requirePart } from "../../support/parts.ts";

const run = promisify(execFile);
const hasPromtool = requirePart("promtool");
const folders: CommandFolder[] = [];

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => folder.dispose()));
});

interface Answer {
  readonly code: number | null;
  readonly printed: string;
  /** The output folder. */
  readonly out: string;
}

/** Runs `gpu-ledger generate …` with a configuration of the alerts, beside the example of owners. */
async function generate(
  what: "alerts" | "exporter-config",
  config: string | undefined,
  ...flags: readonly string[]
): Promise<Answer> {
  const folder = createCommandFolder();
  folders.push(folder);
  folder.write("owners.csv", readFileSync("config/owners.example.csv", "utf8"));
  const given = config === undefined ? [] : ["--config", folder.write("alerts.yaml", config)];
  const { code, stdout, stderr } = await folder.call(["generate", what, "--out", "out", ...given, ...flags]);
  return { code, printed: `${stdout}${stderr}`, out: join(folder.path, "out") };
}

describe("generate alerts", () => {
  it.each([
    ["an unknown alert", "alerts: { GPUTooGood: { for: 5m } }", [], "alerts.GPUTooGood (line 1)"],
    ["a negative duration", "alerts: { GPUPowerBrake: { for: -5m } }", [], 'alerts.GPUPowerBrake.for (line 1): "-5m"'],
    [
      "a threshold out of range",
      "alerts: { HighGPUMemoryUsage: { threshold: 90 } }",
      [],
      "alerts.HighGPUMemoryUsage.threshold (line 1): 90",
    ],
    [
      "contacts of an unknown team",
      "ownersFile: owners.csv\ncontacts: { vison: {} }",
      [],
      'contacts.vison: "vison" is not a team of owners.csv: vision, nlp, speech, research',
    ],
    ["numbers of an unknown team", "ownersFile: owners.csv\nteams: { vison: {} }", [], "teams.vison"],
    [
      "owners that cannot be read",
      "ownersFile: nowhere.csv",
      [],
      'ownersFile: "nowhere.csv" is not the path of a file that can be read',
    ],
    ["an invalid form", "", ["--alertmanager", "half"], '--alertmanager: "half" is not one of: fragment, full, crd'],
    ["rules in an invalid form", "", ["--rules", "stone"], '--rules: "stone" is not files or objects'],
    ["an invalid label", "", ["--label", "release"], '--label: "release" is not name=value'],
    ["an invalid group", "", ["--only", "thermal,cold"], '--only: "cold" is not one of: telemetry'],
    ["an invalid prefix", "", ["--prefix", "a-b"], '--prefix: "a-b" is not letters'],
    [
      "a secret that an AlertmanagerConfig cannot reference",
      "platform: { slack: { channel: x, apiUrlFile: /etc/slack/url } }",
      ["--alertmanager", "crd"],
      "is not such a path",
    ],
    [
      "a time zone that an AlertmanagerConfig cannot have",
      "workingHours: { timeZone: Europe/Berlin }",
      ["--alertmanager", "crd"],
      "only the time zone UTC",
    ],
  ])("refuses %s with a sentence and writes nothing", async (_, config, flags, sentence) => {
    const { code, printed, out } = await generate("alerts", config, ...flags);
    expect(printed).toContain(sentence);
    expect(code).not.toBe(0);
    expect(existsSync(out)).toBe(false);
  });

  it.skipIf(!hasPromtool)("writes rules that promtool accepts without a remark, for any teams and labels", async () => {
    const config = String.raw`
labels: { note: "quote \" brace { back \\ ünïcode" }
teams:
  'we"ird {team} \ ü': { GPUAllocatedIdle: { threshold: 0.05, for: 1h } }
  a.b: { GPUAllocatedIdle: { enabled: false } }
  vision: { GPUAllocatedIdle: { ageMinutes: 240 }, TeamGPUIdleShareHigh: { gpus: 8 } }
server: https://gpu-ledger.example.com/
watchdog: true
`;
    const { code, out } = await generate("alerts", config, "--prefix", "Acme");
    expect(code).toBe(0);
    const files = readdirSync(out).map((name) => join(out, name));
    const { stdout, stderr } = await run("promtool", ["check", "rules", "--lint-fatal", ...files]);
    expect(stdout).toMatch(/SUCCESS: 7\d rules found/);
    expect(stderr).toBe("");
  });

  it("writes objects with the labels that an operator selects, and with the rules of the files", async () => {
    const objects = await generate(
      "alerts",
      undefined,
      "--rules",
      "objects",
      "--namespace",
      "monitoring",
      "--label",
      "release=kps",
      "--label",
      "a=b=c",
    );
    const files = await generate("alerts", undefined);
    const object = parse(readFileSync(join(objects.out, "gpu-ledger-alerts.prometheusrule.yaml"), "utf8")) as Record<
      string,
      unknown
    >;
    const file = parse(readFileSync(join(files.out, "gpu-ledger-alerts.rules.yaml"), "utf8")) as Record<
      string,
      unknown
    >;
    expect(object).toMatchObject({
      apiVersion: "monitoring.coreos.com/v1",
      kind: "PrometheusRule",
      metadata: { name: "gpu-ledger-alerts", namespace: "monitoring", labels: { release: "kps", a: "b=c" } },
    });
    expect(object["spec"]).toEqual(file);
  });

  it("writes an AlertmanagerConfig that uses secrets of its namespace", async () => {
    const config = `
platform: { pagerduty: { routingKeyFile: /etc/alertmanager/secrets/pager/key } }
contacts: { vision: { slack: { channel: "#vision", apiUrlFile: /etc/alertmanager/secrets/slack/url }, email: [v@example.com] } }
workingHours: {}
`;
    const { out } = await generate("alerts", config, "--alertmanager", "crd");
    const object = parse(readFileSync(join(out, "gpu-ledger.alertmanagerconfig.yaml"), "utf8")) as {
      spec: { route: object; receivers: readonly object[]; muteTimeIntervals: object };
    };
    expect(object.spec.receivers).toMatchObject([
      { name: "gpu-ledger-nobody" },
      { name: "gpu-ledger-platform", pagerdutyConfigs: [{ routingKey: { name: "pager", key: "key" } }] },
      {
        name: "gpu-ledger-team-vision",
        slackConfigs: [{ channel: "#vision", apiURL: { name: "slack", key: "url" } }],
        emailConfigs: [{ to: "v@example.com" }],
      },
    ]);
    expect(object.spec.route).toMatchObject({
      receiver: "gpu-ledger-platform",
      matchers: [{ name: "gpu_topic", matchType: "!=", value: "" }],
    });
    expect(object.spec.muteTimeIntervals).toMatchObject([{ name: "gpu-ledger-working-hours" }]);
  });
});

describe("generate exporter-config", () => {
  it("writes counters by the names of either DCGM, and refuses others", async () => {
    const classic = await generate("exporter-config", undefined);
    const later = await generate("exporter-config", undefined, "--names", "dcgm-4.7");
    const wrong = await generate("exporter-config", undefined, "--names", "dcgm-9");
    expect(readFileSync(join(classic.out, "counters.csv"), "utf8")).toContain("\nDCGM_FI_DEV_GPU_TEMP, gauge,");
    expect(readFileSync(join(later.out, "counters.csv"), "utf8")).toContain("\nDCGM_FI_DEV_GPU_TEMP_CELSIUS, gauge,");
    expect(wrong.printed).toContain('--names: "dcgm-9" is not classic or dcgm-4.7');
    expect(existsSync(wrong.out)).toBe(false);
  });
});
