import { expect, it } from "vitest";
import { ruleGroups } from "../../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import { requirePart } from "../../support/parts.ts";
import { fires, type RuleCase } from "../../support/rules/case.ts";
import { exporterUp, gpuLabels, gpuPlace, known, series } from "../../support/rules/fleet.ts";
import { failureOf } from "../../support/rules/promtool.ts";

const SERVER = "https://gl.example.com";
const GRAFANA = "https://grafana.example.com";
const TICKET = { severity: "warning", notify: "ticket" } as const;

/** Three alerts, each with its links. */
const LINKED: RuleCase = {
  name: "alerts have links with their names, encoded for an address, and without names that they lack",
  input: [
    exporterUp("0x20", { cluster: "eu", labels: { node: "gpu a&b" } }),
    known({ cluster: "eu" }),
    series("gpu:nvlink_crc_errors:rate5m", "101x20", gpuLabels({ cluster: "eu" })),
    series("team:gpus_idle_day:count", "9x20", { team: "a+b/ü" }),
    series("team:gpus_held:count", "9x20", { team: "a+b/ü" }),
  ],
  expect: [
    ...fires(
      "GPUExporterDown",
      {
        labels: {
          ...TICKET,
          cluster: "eu",
          node: "gpu a&b",
          job: "dcgm-exporter",
          instance: "node-1:9400",
          namespace: "gpu-operator",
          pod: "dcgm-exporter-node-1",
        },
        annotations: {
          description:
            "Node gpu a&b: Prometheus gets no page from the exporter at node-1:9400 (job dcgm-exporter). Its GPUs have no samples: no alert about them can fire, and their held time is charged as unobserved.",
          page: `${SERVER}/node?cluster=eu&node=gpu+a%26b`,
          runbook: `${SERVER}/runbook?alert=GPUExporterDown&cluster=eu&node=gpu+a%26b&namespace=gpu-operator&pod=dcgm-exporter-node-1`,
          dashboard: `${GRAFANA}/d/gpu-ledger-gpu?var-cluster=eu&var-node=gpu+a%26b`,
        },
      },
      "6m",
    ),
    ...fires(
      "GPUNVLinkErrors",
      {
        labels: { ...gpuLabels({ cluster: "eu" }), ...TICKET },
        annotations: {
          description: `${gpuPlace({ cluster: "eu" })}NVLinks of this GPU recovered from errors in the last 15 minutes, or have more CRC errors than usual. Jobs on several GPUs get slow or fail.`,
          gpu: "0 (NVIDIA H100 80GB HBM3)",
          held_by: "",
          page: `${SERVER}/gpu?cluster=eu&uuid=GPU-node-1-0`,
          runbook: `${SERVER}/runbook?alert=GPUNVLinkErrors&cluster=eu&node=node-1&uuid=GPU-node-1-0`,
          dashboard: `${GRAFANA}/d/gpu-ledger-gpu?var-cluster=eu&var-node=node-1&var-gpu=GPU-node-1-0`,
        },
      },
      "6m",
    ),
    ...fires(
      "TeamGPUIdleShareHigh",
      {
        labels: { team: "a+b/ü", ...TICKET },
        annotations: {
          description: "100% of the GPUs that team a+b/ü holds had an average activity below 5 % over the last day.",
          cost_per_hour: "",
          page: `${SERVER}/team?team=a%2Bb%2F%C3%BC`,
          runbook: `${SERVER}/runbook?alert=TeamGPUIdleShareHigh&team=a%2Bb%2F%C3%BC`,
          dashboard: `${GRAFANA}/d/gpu-ledger-teams?var-team=a%2Bb%2F%C3%BC`,
        },
      },
      "6m",
    ),
  ],
};

it.skipIf(!requirePart("promtool"))("alerts have links with their names, as Prometheus renders them", async () => {
  const alerts = { TeamGPUIdleShareHigh: { parameters: {}, forMillis: 0 } };
  const groups = ruleGroups({ ...DEFAULT_ALERT_OPTIONS, alerts, server: SERVER, grafana: GRAFANA });
  expect(await failureOf({ groups, each: LINKED })).toBe("");
});
