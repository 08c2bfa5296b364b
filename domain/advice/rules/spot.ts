import { doubtsOf } from "../doubts.ts";
import { devicesOf } from "../evidence.ts";
import { shapeFields } from "../need.ts";
import { counted } from "../../counted.ts";
import { subjectOf, whereOf, type WorkloadRule } from "../rule.ts";

/** The label or annotation with which a user declares that a workload writes checkpoints and goes on after an eviction. */
export const RESTARTABLE_LABEL = "gpu-ledger/restartable";

/**
 * Finds trainings that declare that they can restart, and run on GPUs on demand. Without the declaration there is no card: nothing that can be
 * measured shows that a job has checkpoints.
 */
export const spot: WorkloadRule = (workload, context) => {
  const devices = devicesOf(workload);
  const [first] = devices;
  if (!workload.isRestartable || first === undefined || workload.lastAt < context.window.until) return [];
  const { model, machine } = first;
  const { instanceType, region, pool, delivered } = machine;
  const isAlike = devices.every(
    (device) =>
      device.model === model &&
      device.held.what === "whole" &&
      device.machine.capacityType === "on-demand" &&
      device.machine.instanceType === instanceType &&
      device.machine.delivered === delivered,
  );
  if (!isAlike) return [];
  const shape = { model, nodeGpus: delivered, instanceType, region, pool, capacityType: "spot" as const };
  return [
    {
      kind: "spot",
      subject: { ...subjectOf(workload), model },
      from: context.window.from,
      changes: [{ move: whereOf(workload), to: shapeFields(shape) }],
      figures: [
        { name: "Holds", value: `${counted(devices.length, "GPU")} ${model}, on demand` },
        { name: "Can restart", value: `declared by ${RESTARTABLE_LABEL}` },
        { name: "Pods", value: String(workload.pods.length) },
      ],
      remedy: {
        what: "Run the pods on spot nodes, which cost less and can be taken away within minutes.",
        lines: ["nodeSelector:", "  karpenter.sh/capacity-type: spot"].join("\n"),
      },
      risks: [
        "An eviction loses the work since the last checkpoint, and the job waits for new nodes. Both take longer if the model is scarce.",
        "The saving holds for the same GPU-hours. Lost work makes it smaller.",
      ],
      doubts: [...doubtsOf(workload, context), "The rate of evictions of this model is not known."],
    },
  ];
};
