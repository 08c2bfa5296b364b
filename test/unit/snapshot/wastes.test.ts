import { describe, expect, it } from "vitest";
import type { Charge } from "../../../domain/charge/charge.ts";
import { lastUnits } from "../../../domain/exact/units.ts";
import type { Holding } from "../../../snapshot/holders.ts";
import { wastesOf } from "../../../snapshot/wastes.ts";

const HOLDER = { namespace: "ml", workloadKind: "Job", workload: "train", pod: "train-0" };

/** A charge of one GPU-hour of the workload. */
function charge(state: Charge["state"]): Charge {
  const costs = { effective: lastUnits(4_000_000_000n) };
  return {
    state,
    team: "nlp",
    holder: HOLDER,
    gpuModel: "NVIDIA-L4",
    pool: "",
    gpuHours: lastUnits(10n ** 9n),
    costs,
  } as Charge;
}

/** The workload as a holder, with its activity now. */
function holder(activity: number | undefined): Holding {
  return { namespace: "ml", kind: "Job", workload: "train", activity } as Holding;
}

describe("the wastes of a snapshot", () => {
  it.each([
    ["idle", undefined, "Look whether it still works"],
    ["idle", 0.01, "Look whether it still works"],
    ["idle", 0.3, "uses a small part of its GPUs"],
    // The pods that hold GPUs may work while they wait for the rest of the gang.
    ["waiting", 0.3, "Admit gangs as a whole"],
  ] as const)("have the advice for a workload that is %s with an activity of %s: %s", (state, activity, advice) => {
    const [waste, ...others] = wastesOf([charge(state)], [holder(activity)]);
    expect(others).toEqual([]);
    expect(waste).toMatchObject({ state, of: "ml/Job/train", team: "nlp", activity });
    expect(waste!.advice).toContain(advice);
  });

  it("have no work that uses its GPUs", () => {
    expect(wastesOf([charge("active")], [holder(0.9)])).toEqual([]);
  });
});
