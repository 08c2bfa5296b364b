import { fires, silent, type RuleCase } from "../case.ts";
import { dcgm, type RawGpu } from "../fleet.ts";

const TICKET = { severity: "warning", notify: "ticket" } as const;
const POD = { namespace: "ml", pod: "train-0" } as const;
const activity = (values: string, of: RawGpu = {}) => dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", values, of);

/** Alerts that take hours, from the exporters' series to the alert. */
export const HOUR_CASES: readonly RuleCase[] = [
  {
    name: "GPUNodeUnallocated fires after six hours in which a node's GPUs had no holder, and not for a node with a holder",
    evaluate: "1m",
    input: [activity("0x780"), activity("0x780", { gpu: 1 }), activity("0.5x780", { node: "node-2", labels: POD })],
    expect: [
      ...silent("GPUNodeUnallocated", "5h22m"),
      ...fires(
        "GPUNodeUnallocated",
        {
          labels: { node: "node-1", ...TICKET },
          annotations: {
            description:
              "No pod has held any of the 2 GPUs of node node-1 for hours. If no pod waits for GPUs, the node can be removed.",
          },
        },
        "5h24m",
        "6h15m",
      ),
    ],
  },
];
