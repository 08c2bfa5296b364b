import type { MakeName } from "./makes.ts";
import { A100_LAYOUTS, GPU_MODELS, H100_LAYOUTS, type GpuModel, type MigLayout } from "./models.ts";
import type { Trouble } from "./node.ts";
import { RESIDENTS } from "./residents.ts";
import type { Resident } from "./residency.ts";
import type { WorkloadType } from "./teams.ts";

/** A planned node without a name. */
export interface Blueprint {
  readonly stem: string;
  readonly model: GpuModel;
  readonly gpus: number;
  readonly make: MakeName;
  readonly use: WorkloadType | "spare";
  readonly capacityType: "on-demand" | "reserved" | "spot";
  readonly mig?: readonly MigLayout[];
  /** The number of replicas of each GPU. */
  readonly timeSlices?: number;
  /** The letter of the zone; absent for any. */
  readonly zone?: string;
  /** Nodes of one letter train together. */
  readonly gang?: string;
  /** GPU by GPU, the workload that always holds the GPU, or `free` if nobody ever does. The holders of all other GPUs change. */
  readonly residents?: readonly (Resident | "free" | undefined)[];
  readonly troubles: readonly Trouble[];
}

const blueprint = (
  [stem, gpus]: readonly [string, number],
  model: GpuModel,
  make: MakeName,
  use: Blueprint["use"],
  more: Partial<Blueprint> = {},
): Blueprint => ({ stem, gpus, model, make, use, capacityType: "on-demand", troubles: [], ...more });

const { h100, a100, a100small, v100, l40s, l4, a10, t4, a6000, mi300x } = GPU_MODELS;
const reserved = { capacityType: "reserved" } as const;
const oneZone = { zone: "b" } as const;
const {
  domainPretrain,
  policyDistill,
  promptGuard,
  rerankApi,
  imageTags,
  chat235b,
  diarize,
  labelAssist,
  jupyterGus,
  graspRollouts,
} = RESIDENTS;
const changing = [undefined, undefined, undefined, undefined];

/** Ninety-six GPUs on nineteen nodes: every dialect, every kind of sharing, every trouble once, and a waste of each kind. */
const BLUEPRINTS: readonly Blueprint[] = [
  blueprint(["h100", 8], h100, "dcgm-4.2", "training", { ...reserved, gang: "a", troubles: ["hot-gpu"] }),
  blueprint(["h100", 8], h100, "dcgm-4.4", "training", { ...reserved, gang: "a", troubles: ["gpu-falls-off"] }),
  blueprint(["h100", 8], h100, "dcgm-4.8.3", "training", {
    ...reserved,
    gang: "b",
    residents: [...changing, undefined, undefined, chat235b, chat235b],
  }),
  blueprint(["h100", 8], h100, "dcgm-4.9", "training", {
    ...reserved,
    gang: "b",
    residents: [...changing, undefined, undefined, chat235b, chat235b],
  }),
  blueprint(["a100", 8], a100, "dcgm-3.4.2", "training", {
    troubles: ["xid"],
    residents: [...changing, domainPretrain, domainPretrain, domainPretrain, domainPretrain],
  }),
  blueprint(["a100", 8], a100, "dcgm-3.1", "training", {
    troubles: ["driver-reload"],
    residents: [...changing, policyDistill, policyDistill, policyDistill, policyDistill],
  }),
  blueprint(["a100mig", 4], a100small, "dcgm-3.4.0", "notebook", { mig: A100_LAYOUTS }),
  blueprint(["h100mig", 4], h100, "dcgm-4.8.3", "inference", {
    mig: H100_LAYOUTS,
    residents: [undefined, undefined, promptGuard, rerankApi],
  }),
  blueprint(["l4", 4], l4, "dcgm-4.5", "inference", { residents: [imageTags, imageTags, imageTags, imageTags] }),
  blueprint(["l40s", 4], l40s, "dcgm-4.8.1", "inference", { residents: [diarize, diarize, labelAssist] }),
  blueprint(["l40s", 4], l40s, "dcgm-4.8.2", "inference", { troubles: ["kubelet-errors"] }),
  blueprint(["t4", 4], t4, "dcgm-4.8.2", "notebook", { timeSlices: 4, capacityType: "spot" }),
  blueprint(["a10", 4], a10, "dcgm-3.4.2", "inference", { capacityType: "spot", troubles: ["profiling-stuck"] }),
  blueprint(["v100", 4], v100, "dcgm-2", "notebook", { residents: [jupyterGus] }),
  blueprint(["mi300x", 2], mi300x, "amd", "training", { ...oneZone, residents: [graspRollouts, "free"] }),
  blueprint(["mi300x", 2], mi300x, "amd", "training", { ...oneZone, residents: ["free", graspRollouts] }),
  blueprint(["mi300x", 4], mi300x, "amd", "spare"),
  blueprint(["a6000", 4], a6000, "smi", "training"),
  blueprint(["l4", 4], l4, "dcgm-4.4", "inference", { capacityType: "spot", troubles: ["exporter-away"] }),
];

/** Returns the blueprints for an exact number of GPUs: the whole fleets that fit, then a smaller one in proportion. */
export function blueprintsFor(gpus: number): readonly Blueprint[] {
  const whole = BLUEPRINTS.reduce((sum, each) => sum + each.gpus, 0);
  const times = Math.floor(gpus / whole);
  const plans: Blueprint[] = [];
  for (let copy = 0; copy < times; copy++) plans.push(...BLUEPRINTS.map((each) => inCopy(each, copy)));
  const rest = gpus - times * whole;
  let before = 0;
  for (const each of BLUEPRINTS) {
    // Both ends are rounded, so that the parts add up to the rest.
    const from = Math.round((before * rest) / whole);
    before += each.gpus;
    const share = Math.round((before * rest) / whole) - from;
    if (share > 0) plans.push(inCopy({ ...each, gpus: share }, times));
  }
  return plans;
}

function inCopy(plan: Blueprint, copy: number): Blueprint {
  return plan.gang === undefined ? plan : { ...plan, gang: `${plan.gang}${copy}` };
}
