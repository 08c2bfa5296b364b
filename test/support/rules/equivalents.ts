import type { Mutant } from "./mutants.ts";

/** Changes of a rule that change no result, with the reason. */
interface Equivalent {
  readonly makes: string;
  /** The line, with its change in brackets. */
  readonly change: RegExp;
  readonly reason: string;
}

const EQUIVALENTS: readonly Equivalent[] = [
  {
    makes: "gpu:device_replicas:count",
    change: /\/ \[100 → /,
    reason: "The value is multiplied by 0: only that there is one counts.",
  },
  {
    makes: "gpu:telemetry_frozen:info",
    change: /\/ \[1000(000)? → /,
    reason:
      "A number of changes is compared with 0, and of the energy only that it is above 0 counts: no unit matters.",
  },
  {
    makes: "gpu:profiling_stuck:info",
    change: /gpu_gfx_activity.*\/ \[100 → /,
    reason: "The value is compared with 0: no unit matters.",
  },
  {
    makes: "gpu:pod_activity:ratio",
    change: /"gpu_usage\|amd_gpu_usage".*\/ \[100 → /,
    reason: "The branch is never reached: AMD's exporter does not tell what single processes do.",
  },
  {
    makes: "gpu:process_values:info",
    change: /\/ \[100 → |"gpu_usage\|amd_gpu_usage".*\[and → unless\]/,
    reason:
      "Only that the device has a value of its own counts, not which; AMD's exporter gives none of single processes.",
  },
  {
    makes: "gpu:uncorrectable_remapped_rows:increase1d",
    change: /\[> → >=\] 0\) \* on/,
    reason: "It only leaves out early what can't have grown: 0 rows now are not more than there were.",
  },
  {
    makes: "GPUHardwareThermalSlowdown",
    change: /\/ \[10 → 11\]|\[0\.5 → 0\.55\]/,
    reason: "Of eleven samples at most, five are not enough and six are, with either number.",
  },
  ...["GPUHardwareThermalSlowdown", "GPUPowerBrake"].map((makes) => ({
    makes,
    change: /, \[1 → 2\]\) > 0\.5/,
    reason: "The bound is above the threshold, and no annotation shows the value.",
  })),
];

/** Why a mutant gives the same results as the unchanged rules; undefined where its results differ. */
export function equivalenceOf({ makes, change }: Mutant): string | undefined {
  return EQUIVALENTS.find((each) => each.makes === makes && each.change.test(change))?.reason;
}
