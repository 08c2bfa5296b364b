import { HOUR_MILLIS } from "../../time.ts";
import { affectedNode } from "../affected.ts";
import { createCheck } from "../check.ts";

/** How long a new node has time until its exporter must send samples. */
const NEW_MILLIS = HOUR_MILLIS;

/** Nodes of which nothing is measured. */
export const nodeWithoutExporter = createCheck(
  {
    name: "node-without-exporter",
    severity: "high",
    title: "GPU nodes without an exporter",
    what: "No scrape of the last day had GPUs of a node that joined more than an hour ago.",
    why: "The time of these GPUs is charged as unobserved: it is unknown whether they work or idle, and no alert finds their faults.",
    fix: ({ name }) =>
      `kubectl label nodes ${name} nvidia.com/gpu.deploy.dcgm-exporter=true --overwrite   # with NVIDIA's gpu-operator; then gpu-ledger check`,
  },
  ({ nodes, now }) =>
    nodes
      .filter(({ telemetry, joined }) => !telemetry.hasSamples && now - joined > NEW_MILLIS)
      .map((node) => affectedNode(node)),
);

/** Exporters without profiling counters: they have only the part of time in which a kernel ran. */
export const withoutProfiling = createCheck(
  {
    name: "no-profiling-counters",
    severity: "medium",
    title: "Exporters without the profiling counters",
    what: "The last samples of a node with NVIDIA GPUs have none of the counters `DCGM_FI_PROF_GR_ENGINE_ACTIVE`, `DCGM_FI_PROF_SM_ACTIVE` and `DCGM_FI_PROF_DRAM_ACTIVE`.",
    why: "`DCGM_FI_DEV_GPU_UTIL` is 100 % while any kernel runs, however small. Only the profiling counters show how much of a GPU works, and only they exist for MIG instances.",
    fix: () =>
      "gpu-ledger generate exporter-config --out . && kubectl apply --namespace NAMESPACE -f configmap.yaml   # the namespace of dcgm-exporter; then its values, which are generated too",
  },
  ({ nodes }) =>
    nodes
      .filter(({ telemetry, gpus }) => telemetry.hasProfiling === false && gpus[0]?.vendor === "nvidia")
      .map((node) => affectedNode(node)),
);
