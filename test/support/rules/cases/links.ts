import { fires, silent, type ExpectedAlert, type RuleCase } from "../case.ts";
import { dcgm, gpuLabels, gpuPlace } from "../fleet.ts";

function alert(description: string): ExpectedAlert {
  return {
    labels: { ...gpuLabels(), severity: "warning", notify: "ticket" },
    annotations: { description: `${gpuPlace()}${description}`, gpu: "0 (NVIDIA H100 80GB HBM3)", held_by: "" },
  };
}

const present = dcgm("DCGM_FI_DEV_GPU_TEMP", "50x400");
const NVLINK = alert(
  "NVLinks of this GPU recovered from errors in the last 15 minutes, or have more CRC errors than usual. Jobs on several GPUs get slow or fail.",
);

/** The links between GPUs, and to their machine. */
export const LINK_CASES: readonly RuleCase[] = [
  {
    name: "GPUNVLinkErrors fires five minutes after a recovery, and ends a quarter of an hour later",
    input: [present, dcgm("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "7x19 8x100")],
    expect: [...silent("GPUNVLinkErrors", "9m30s", "14m30s", "26m"), ...fires("GPUNVLinkErrors", NVLINK, "15m", "24m")],
  },
  {
    name: "GPUNVLinkErrors is silent about recoveries of before, and where the counter falls back",
    input: [present, dcgm("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "7x40 0x60")],
    expect: silent("GPUNVLinkErrors", "10m", "30m", "40m"),
  },
  {
    name: "GPUNVLinkErrors fires above 100 CRC errors a second, of both kinds together",
    input: [
      present,
      dcgm("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "0+1500x60 90000x40"),
      dcgm("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "0+1530x60 91800x40"),
      dcgm("DCGM_FI_DEV_GPU_TEMP", "50x400", { node: "node-2" }),
      dcgm("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "0+2990x60", { node: "node-2" }),
    ],
    expect: [...silent("GPUNVLinkErrors", "5m", "40m"), ...fires("GPUNVLinkErrors", NVLINK, "10m", "30m")],
  },
  {
    name: "GPUPCIeReplayHigh fires above eight retries a minute for a quarter of an hour",
    input: [
      present,
      dcgm("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "0+5x60 300x60"),
      dcgm("DCGM_FI_DEV_GPU_TEMP", "50x400", { node: "node-2" }),
      dcgm("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "0+4x60", { node: "node-2" }),
    ],
    expect: [
      ...silent("GPUPCIeReplayHigh", "18m", "40m"),
      ...fires(
        "GPUPCIeReplayHigh",
        alert("10 retries per minute on the PCIe link of this GPU. A bad slot, riser or cable slows transfers."),
        "20m",
        "30m",
      ),
    ],
  },
];
