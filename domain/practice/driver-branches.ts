/** A branch of NVIDIA's data-center driver, with the month after which NVIDIA no longer supports it. */
export interface DriverBranch {
  readonly branch: number;
  /** `2026-06`: the branch is supported until the end of June 2026. */
  readonly endOfLife: string;
  /** The page with the date. */
  readonly source: string;
}

const DRIVERS = "https://docs.nvidia.com/datacenter/tesla/drivers";
const SUPPORTED = "supported-drivers-and-cuda-toolkit-versions.html";
const OF_620 = `${DRIVERS}/620/${SUPPORTED}`;
const OF_615 = `${DRIVERS}/615/${SUPPORTED}`;
const OF_2021 = "https://docs.nvidia.com/datacenter/tesla/pdf/NVIDIA_CUDA_Drivers_Support.pdf";

/**
 * The branches whose end is in NVIDIA's documents, read in November 2026. A branch that is not here has no known end, and the check leaves
 * it out. Device plugins and exporters are not here, because their projects publish no dates.
 */
export const DRIVER_BRANCHES: readonly DriverBranch[] = [
  { branch: 418, endOfLife: "2022-03", source: OF_2021 },
  { branch: 440, endOfLife: "2020-11", source: OF_2021 },
  { branch: 450, endOfLife: "2023-07", source: OF_2021 },
  { branch: 460, endOfLife: "2022-01", source: OF_2021 },
  { branch: 535, endOfLife: "2026-06", source: OF_615 },
  { branch: 580, endOfLife: "2028-06", source: OF_620 },
  { branch: 595, endOfLife: "2027-03", source: OF_620 },
  { branch: 610, endOfLife: "2026-08", source: OF_615 },
  { branch: 620, endOfLife: "2029-09", source: OF_620 },
];

/** Returns the branch of a driver's version: 535 for `535.183.01`; undefined if the text does not begin with a number. */
export function branchOf(version: string): number | undefined {
  const [, digits] = /^(\d{2,4})(?:\.|$)/.exec(version) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Returns the end of a branch if it is known and has passed at a time in milliseconds since the epoch. */
export function endedBranch(branch: number, now: number): DriverBranch | undefined {
  const known = DRIVER_BRANCHES.find((each) => each.branch === branch);
  if (known === undefined) return undefined;
  const [year, month] = known.endOfLife.split("-").map(Number);
  return now >= Date.UTC(year!, month!, 1) ? known : undefined;
}
