import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { alertmanagerParts } from "../../../alerts/alertmanager/configuration.ts";
import type { Contacts } from "../../../alerts/alertmanager/contacts.ts";
import { WASTE_ALERTS } from "../../../alerts/catalog/waste.ts";
import { alertFiles } from "../../../alerts/files.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { requirePart } from "../../support/parts.ts";
import {
  checkConfiguration,
  receiversOf,
  startAlertmanager,
  startWebhook,
  type Alertmanager,
  type Webhook,
} from "../../support/rules/alertmanager.ts";

const hasParts = requirePart("amtool") && requirePart("alertmanager");

const CONTACTS: Contacts = {
  platform: {
    slack: { channel: "#gpu", apiUrlFile: "/etc/alertmanager/secrets/gl/slack" },
    pagerduty: { routingKeyFile: "/etc/alertmanager/secrets/gl/pager" },
  },
  teams: {
    vision: { email: ["vision@example.com"] },
    'we"ird {team} ü': { webhook: "http://127.0.0.1:9/hook" },
  },
  smtp: { smarthost: "mail.example.com:25", from: "gpu-ledger@example.com" },
  repeat: { page: "4h", ticket: "24h" },
  workingHours: { days: ["monday"], from: "08:00", until: "18:00", timeZone: "Europe/Berlin" },
};

function filesOf(contacts: Contacts, form: "full" | "fragment"): Readonly<Record<string, string>> {
  const files = alertFiles(DEFAULT_ALERT_OPTIONS, contacts, {
    rules: "files",
    metadata: { namespace: undefined, labels: {} },
    alertmanager: form,
  });
  return Object.fromEntries(files.map(({ name, text }) => [name, text]));
}

describe.skipIf(!hasParts)("a complete configuration of Alertmanager", () => {
  it("passes Alertmanager's own check, for any names of teams", async () => {
    const { "alertmanager.yaml": configuration, "gpu-ledger.tmpl": templates } = filesOf(CONTACTS, "full");
    const printed = await checkConfiguration({ "alertmanager.yaml": configuration!, "gpu-ledger.tmpl": templates! });
    expect(printed).toContain("SUCCESS");
    expect(printed).toContain("4 receivers");
    expect(printed).toContain("1 templates");
  });

  it.each([
    [{ alertname: "GPUAllocatedIdle", gpu_topic: "waste", notify: "ticket", team: "vision" }, "gpu-ledger-team-vision"],
    [{ alertname: "GPUAllocatedIdle", gpu_topic: "waste", notify: "ticket", team: "speech" }, "gpu-ledger-platform"],
    [{ alertname: "GPUAllocatedIdle", gpu_topic: "waste", notify: "ticket" }, "gpu-ledger-platform"],
    [
      { alertname: "GPUAllocatedIdle", gpu_topic: "waste", notify: "ticket", team: 'we"ird {team} ü' },
      'gpu-ledger-team-we"ird {team} ü',
    ],
    [{ alertname: "GPUXidHardwareFault", gpu_topic: "xid", notify: "page" }, "gpu-ledger-platform"],
    [{ alertname: "GPUDisappeared", gpu_topic: "telemetry", notify: "page", team: "vision" }, "gpu-ledger-team-vision"],
    [{ alertname: "GPUPodsPending", gpu_topic: "queue", notify: "none", team: "vision" }, "gpu-ledger-nobody"],
    [{ alertname: "GPUPodLowUtilization", gpu_topic: "waste", notify: "none", team: "vision" }, "gpu-ledger-nobody"],
    [
      { alertname: "GPUPodLowUtilization", gpu_topic: "waste", notify: "ticket", team: "vision" },
      "gpu-ledger-team-vision",
    ],
    [
      { alertname: "GPUAttributionMissing", gpu_topic: "telemetry", notify: "ticket", team: "vision" },
      "gpu-ledger-team-vision",
    ],
  ])("routes %j to %s", async (labels, receiver) => {
    const { "alertmanager.yaml": configuration } = filesOf(CONTACTS, "full");
    expect(await receiversOf(configuration!, labels as Record<string, string>)).toEqual([receiver]);
  });

  it("has a note at its top if there is no receiver, and none if there is one", () => {
    const nobody = { ...CONTACTS, platform: {}, teams: { vision: {} } };
    expect(filesOf(nobody, "full")["alertmanager.yaml"]).toContain("# Without contacts no notification is sent:");
    for (const contacts of [CONTACTS, { ...nobody, teams: CONTACTS.teams }])
      expect(filesOf(contacts, "full")["alertmanager.yaml"]).not.toContain("no notification is sent");
  });

  it("sends tickets only in working hours and pages at any time, and repeats them at the configured interval", () => {
    const { route } = alertmanagerParts(DEFAULT_ALERT_OPTIONS, CONTACTS);
    const [, page, waste, ticket] = route.routes!;
    expect(page).toMatchObject({ matchers: ['notify="page"'] });
    expect(page).not.toHaveProperty("active_time_intervals");
    for (const each of [waste, ticket])
      expect(each).toMatchObject({ repeat_interval: "24h", active_time_intervals: ["gpu-ledger-working-hours"] });
    expect(route.repeat_interval).toBe("4h");
  });
});

/**
 * The shape of kube-prometheus-stack's default: everything goes to a null receiver, a worse alert inhibits a better one, and an info alert needs a
 * worse alert beside it.
 */
const KUBE_PROMETHEUS_STACK = {
  global: { resolve_timeout: "5m" },
  inhibit_rules: [
    {
      source_matchers: ["severity = critical"],
      target_matchers: ["severity =~ warning|info"],
      equal: ["namespace", "alertname"],
    },
    {
      source_matchers: ["severity = warning"],
      target_matchers: ["severity = info"],
      equal: ["namespace", "alertname"],
    },
    { source_matchers: ["alertname = InfoInhibitor"], target_matchers: ["severity = info"], equal: ["namespace"] },
    { target_matchers: ["alertname = InfoInhibitor"] },
  ],
  route: {
    group_by: ["namespace"],
    group_wait: "30s",
    group_interval: "5m",
    repeat_interval: "12h",
    receiver: "null",
    routes: [{ receiver: "null", matchers: ["alertname =~ InfoInhibitor|Watchdog"] }],
  },
  receivers: [{ name: "null" }],
  templates: ["/etc/alertmanager/config/*.tmpl"],
};

/** Our fragment at the place that its comment gives, without the waits, which are only useful for people. */
function beside(contacts: Contacts): string {
  const fragment = parse(filesOf(contacts, "fragment")["alertmanager.fragment.yaml"]!) as {
    route: { routes: object[] };
    inhibit_rules: object[];
    receivers: object[];
  };
  const { route, inhibit_rules, receivers } = KUBE_PROMETHEUS_STACK;
  const text = stringify({
    ...KUBE_PROMETHEUS_STACK,
    templates: ["gpu-ledger.tmpl"],
    route: { ...route, routes: [...route.routes, ...fragment.route.routes] },
    inhibit_rules: [...inhibit_rules, ...fragment.inhibit_rules],
    receivers: [...receivers, ...fragment.receivers],
  });
  return text.replaceAll(/(group_wait|group_interval): \w+/g, "$1: 1s");
}

describe.skipIf(!hasParts)("beside the Alertmanager of kube-prometheus-stack", () => {
  let webhook: Webhook;
  let alertmanager: Alertmanager | undefined;

  async function start(): Promise<Alertmanager> {
    webhook = await startWebhook();
    const reach = (to: string) => ({ webhook: `${webhook.url}/${to}` });
    const contacts = { platform: reach("platform"), teams: { vision: reach("vision") }, repeat: CONTACTS.repeat };
    const files = {
      "alertmanager.yaml": beside(contacts),
      "gpu-ledger.tmpl": filesOf(contacts, "fragment")["gpu-ledger.tmpl"]!,
    };
    alertmanager = await startAlertmanager(files);
    return alertmanager;
  }

  /** The sent notifications by receiver, after two seconds without a new one. */
  async function notifications(): Promise<readonly string[]> {
    for (let before = -1; before !== webhook.received.length;) {
      before = webhook.received.length;
      await new Promise((resolve) => setTimeout(resolve, 2_500));
    }
    const all = webhook.received.flatMap(({ to, notification }) =>
      notification.alerts.map(({ labels }) => `${to}: ${labels["alertname"]} ${labels["pod"] ?? labels["UUID"] ?? ""}`),
    );
    return [...new Set(all)].toSorted();
  }

  afterEach(async () => {
    await alertmanager?.stop();
    await webhook.stop();
  });

  const ofPod = (alertname: string, pod: string, more: Readonly<Record<string, string>> = {}) => ({
    alertname,
    gpu_topic: "waste",
    severity: "warning",
    notify: "ticket",
    namespace: "ml",
    pod,
    team: "vision",
    ...more,
  });

  it("every ticket about waste reaches its receiver, also if the namespace has info alerts, which nobody gets", async () => {
    const ofPods = WASTE_ALERTS.filter(({ subject }) => subject === "pod");
    const isTicket = ({ notify }: (typeof ofPods)[number]): boolean => notify === "ticket";
    const names = ofPods.filter(isTicket).map(({ name }) => name);
    const shown = ofPods.filter((each) => !isTicket(each)).map(({ name }) => name);
    expect(shown).toEqual(["LowGPUUtilization", "GPUPodLowUtilization"]);
    const { fire } = await start();
    await fire(
      { alertname: "InfoInhibitor", severity: "none", namespace: "ml" },
      { alertname: "Watchdog", severity: "none" },
      { alertname: "CPUThrottlingHigh", severity: "info", namespace: "ml" },
      ...names.map((name, index) => ofPod(name, `pod-${index}`)),
      ...shown.map((name) => ofPod(name, "shown", { severity: "info", notify: "none" })),
      ofPod("GPUPodsPending", "waiting", { severity: "info", notify: "none", gpu_topic: "queue" }),
    );
    expect(await notifications()).toEqual(names.map((name, index) => `vision: ${name} pod-${index}`).toSorted());
  });

  it("one wasted pod gives one message", async () => {
    const { fire } = await start();
    await fire(ofPod("GPUAllocatedIdle", "a"), ofPod("LowGPUUtilization", "b"));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await fire(
      ofPod("LowGPUUtilization", "a", { UUID: "GPU-1" }),
      ofPod("GPUPodLowUtilization", "a"),
      ofPod("GPUSustainedLowUtilization", "b"),
      ofPod("GPUPodPartiallyIdle", "b"),
      ofPod("GPUPodLowUtilization", "c"),
      // An alert that is only shown suppresses no ticket.
      ofPod("LowGPUUtilization", "d", { severity: "info", notify: "none" }),
      ofPod("GPUSustainedLowUtilization", "d"),
    );
    expect(await notifications()).toEqual([
      "vision: GPUAllocatedIdle a",
      "vision: GPUPodLowUtilization c",
      "vision: GPUSustainedLowUtilization d",
      "vision: LowGPUUtilization b",
    ]);
  });

  it("a critical alert of a GPU inhibits the GPU's warnings, a hardware XID its heat, a lost node its GPUs, and none of others", async () => {
    const ofGpu = (
      alertname: string,
      gpu_topic: string,
      UUID: string,
      more: Readonly<Record<string, string>> = {},
    ) => ({
      alertname,
      gpu_topic,
      UUID,
      node: "node-1",
      severity: "warning",
      notify: "ticket",
      ...more,
    });
    const critical = { severity: "critical", notify: "page" };
    const { fire } = await start();
    await fire(
      ofGpu("GPUThermalMarginExceeded", "thermal", "hot", critical),
      ofGpu("GPUNearSlowdownTemperature", "thermal", "warm"),
      ofGpu("GPUXidHardwareFault", "xid", "lost", { ...critical, code: "79" }),
      { alertname: "KubeNodeNotReady", severity: "warning", node: "node-2" },
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    await fire(
      ofGpu("GPUThermalMarginLow", "thermal", "hot"),
      ofGpu("GPUSoftwareThermalThrottling", "thermal", "warm"),
      ofGpu("GPUSoftwareThermalThrottling", "thermal", "slow"),
      ofGpu("HighGPUTemperature", "thermal", "other"),
      ofGpu("GPUHardwareThermalSlowdown", "thermal", "lost", critical),
      ofGpu("HighGPUMemoryUsage", "memory", "lost"),
      ofGpu("GPUNVLinkErrors", "links", "gone", { node: "node-2" }),
      {
        alertname: "GPUNodeWithoutTelemetry",
        gpu_topic: "telemetry",
        severity: "warning",
        notify: "ticket",
        node: "node-2",
      },
    );
    expect(await notifications()).toEqual([
      "platform: GPUNearSlowdownTemperature warm",
      "platform: GPUSoftwareThermalThrottling slow",
      "platform: GPUThermalMarginExceeded hot",
      "platform: GPUXidHardwareFault lost",
      "platform: HighGPUMemoryUsage lost",
      "platform: HighGPUTemperature other",
    ]);
  });
});

describe.skipIf(!hasParts)("a message", () => {
  let webhook: Webhook;
  let alertmanager: Alertmanager;

  /** Returns the text of the message in Slack about an alert that began at 03:22 UTC. */
  async function textOf(
    labels: Record<string, string>,
    annotations: Record<string, string>,
  ): Promise<readonly string[]> {
    webhook = await startWebhook();
    const apiUrlFile = join(temporaryFolder("slack"), "url");
    writeFileSync(apiUrlFile, `${webhook.url}/slack`);
    const contacts = { platform: { slack: { channel: "#gpu", apiUrlFile } }, teams: {}, repeat: CONTACTS.repeat };
    const { "alertmanager.yaml": configuration, "gpu-ledger.tmpl": templates } = filesOf(contacts, "full");
    const quick = configuration!.replaceAll(/(group_wait|group_interval): \w+/g, "$1: 1s");
    alertmanager = await startAlertmanager({ "alertmanager.yaml": quick, "gpu-ledger.tmpl": templates! });
    const all = { gpu_topic: "thermal", severity: "warning", notify: "ticket", ...labels };
    await alertmanager.send({
      labels: all,
      annotations,
      startsAt: "2026-11-30T04:22:00+01:00",
      endsAt: "2099-01-01T00:00:00Z",
    });
    await expect.poll(() => webhook.received.length).toBe(1);
    const { attachments } = webhook.received[0]!.notification as unknown as { attachments: [{ text: string }] };
    return attachments[0].text.trim().split("\n");
  }

  afterEach(async () => {
    await alertmanager.stop();
    await webhook.stop();
  });

  it("has links to the page and the dashboard at the time of the alert, to its runbook, and to a silence of its subject", async () => {
    const text = await textOf(
      { alertname: "GPUNearSlowdownTemperature", cluster: "eu", node: "gpu-a", UUID: "GPU-1" },
      {
        description: "GPU GPU-1 of node gpu-a: 88 °C.",
        page: "https://gl.example/gpu?cluster=eu&uuid=GPU-1",
        runbook: "https://gl.example/runbook?alert=GPUNearSlowdownTemperature&node=gpu-a",
        runbook_url: "https://docs.example/GPUNearSlowdownTemperature.md",
        dashboard: "https://grafana.example/d/gpu-ledger-gpu?var-node=gpu-a",
      },
    );
    expect(text).toEqual([
      "GPU GPU-1 of node gpu-a: 88 °C.",
      "Live: https://gl.example/gpu?cluster=eu&uuid=GPU-1&at=2026-11-30T03:22:00Z",
      "Runbook: https://gl.example/runbook?alert=GPUNearSlowdownTemperature&node=gpu-a",
      `Dashboard: https://grafana.example/d/gpu-ledger-gpu?var-node=gpu-a&time=${Date.UTC(2026, 10, 30, 3, 22)}&time.window=3600000`,
      expect.stringMatching(
        /^Silence: http:\/\/[^/]+\/#\/silences\/new\?filter=%7Balertname%3D%22GPUNearSlowdownTemperature%22%2CUUID%3D%22GPU-1%22%2Ccluster%3D%22eu%22%2Cnode%3D%22gpu-a%22%7D$/,
      ),
    ]);
  });

  it("has the runbook of the documents without pages, and any name in a silence", async () => {
    const team = 'we"ird, {team} a+b & ü';
    const text = await textOf(
      { alertname: "TeamGPUIdleShareHigh", team, cost_centre: "CC-1" },
      { description: "Idle.", page: "https://gl.example/team?team=x", runbook_url: "https://docs.example/T.md" },
    );
    expect(text).toEqual([
      "Idle.",
      `Owner: team ${team}, cost center CC-1`,
      "Live: https://gl.example/team?team=x",
      "Runbook: https://docs.example/T.md",
      expect.stringMatching(/^Silence: /),
    ]);
    const filter = decodeURIComponent(text.at(-1)!.split("filter=")[1]!);
    expect(filter).toBe(String.raw`{alertname="TeamGPUIdleShareHigh",team="we\"ird, {team} a+b & ü"}`);
    const found = await fetch(
      `${alertmanager.url}/api/v2/alerts?${new URLSearchParams([["filter", filter.slice(1, -1).split(/,(?=team)/)[1]!]]).toString()}`,
    );
    expect(await found.json()).toHaveLength(1);
  });
});
