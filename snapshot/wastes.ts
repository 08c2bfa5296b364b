import type { Charge, ChargeState } from "../domain/charge/charge.ts";
import type { Holding } from "./holders.ts";
import { compare, spendBy, type Spend } from "./spend.ts";

/** The states of GPU time that nobody uses, each with a sentence about what to do. */
const WASTED = {
  idle: "A workload does not use its GPUs now. Look whether it still works, and stop it if not.",
  waiting: "Its pods hold GPUs while the rest of the gang waits. Admit gangs as a whole.",
  unallocated: "Nobody holds these GPUs. Remove nodes, or give the GPUs to work that waits.",
  stranded: "No MIG instance fits into these rests. Another layout offers them.",
  unavailable: "These GPUs cannot be used: they are absent, faulty or cordoned. Repair or return the nodes.",
} as const satisfies Partial<Record<ChargeState, string>>;

/** A waste of this moment: of a workload, or of GPUs of one model in a node pool that nobody holds. */
export interface Waste extends Spend {
  readonly state: keyof typeof WASTED;
  /** `vision/Deployment/api`, or `NVIDIA-L4 in the pool spot`. */
  readonly of: string;
  readonly team: string;
  /** The mean activity of the workload's devices, 0 to 1; undefined without a workload. */
  readonly activity: number | undefined;
  /** The next step, in plain English. */
  readonly advice: string;
}

/** A workload with a higher activity works. The unused part of its GPUs is no stopped work. */
const LEAST_ACTIVITY = 0.05;
const UNDERUSED =
  "A workload uses a small part of its GPUs now. A smaller part, a smaller model or fewer replicas may be enough.";

/** Returns the wastes of an hour, highest cost first. */
export function wastesOf(charges: readonly Charge[], holders: readonly Holding[]): readonly Waste[] {
  const activities = new Map(holders.map((holder) => [nameOf(holder), holder.activity]));
  const wasted = charges.filter(({ state }) => state in WASTED);
  const keyOf = ({ state, team, holder, gpuModel: model, pool }: Charge): string => {
    const of =
      holder === undefined
        ? `${model === "" ? "GPUs of an unknown model" : model}${pool === "" ? "" : ` in the pool ${pool}`}`
        : nameOf({ ...holder, kind: holder.workloadKind });
    return JSON.stringify([state, of, team]);
  };
  return [...spendBy(wasted, keyOf)]
    .filter(([, { gpus }]) => gpus > 0n)
    .map(([key, spend]): Waste => {
      const [state, of, team] = JSON.parse(key) as [Waste["state"], string, string];
      const activity = activities.get(of);
      const isAtWork = state === "idle" && activity !== undefined && activity >= LEAST_ACTIVITY;
      return { state, of, team, activity, advice: isAtWork ? UNDERUSED : WASTED[state], ...spend };
    })
    .toSorted((one, other) => compare(other.cost, one.cost) || compare(other.gpus, one.gpus));
}

function nameOf({ namespace, kind, workload }: Pick<Holding, "namespace" | "kind" | "workload">): string {
  return `${namespace}/${kind}/${workload}`;
}
