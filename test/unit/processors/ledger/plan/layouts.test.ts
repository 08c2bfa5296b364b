import { describe, expect, it } from "vitest";
import type { Holding } from "../../../../../domain/holding.ts";
import { withEarliestLayouts } from "../../../../../processors/ledger/plan/layouts.ts";
import type { NodeRecord, ProvenLabel, SeenGpu, SeenPart } from "../../../../../processors/ledger/plan/node-record.ts";
import { inventoryFact, workloadFact } from "../../../../support/facts.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../../../domain/time.ts";

/** The last sample with the former instance, and the first with the new ones. */
const [LAST, FIRST] = [30 * MINUTE, 60 * MINUTE];

const part = (number: string, profile: string, given: Partial<SeenPart>): SeenPart => ({
  part: number,
  profile,
  from: -Infinity,
  until: Infinity,
  lastAt: Infinity,
  ...given,
});

/** A GPU that was one 7g.40gb up to 30 min, and is two 3g.20gb from 60 min on. */
const CUT = [
  part("0", "7g.40gb", { until: FIRST, lastAt: LAST }),
  part("1", "3g.20gb", { from: FIRST }),
  part("2", "3g.20gb", { from: FIRST }),
];

const gpu = (index: number, parts: readonly SeenPart[]): SeenGpu => ({
  gpuKey: `GPU-${"ab"[index]}`,
  index,
  from: 0,
  until: Infinity,
  parts,
  labels: [],
  strangers: [],
  faults: [],
  hasProcesses: false,
});

function podFrom(minutes: number, profile = "3g.20gb"): Holding {
  return {
    uid: "uid-p",
    namespace: "ml",
    name: "p",
    node: "gpu-a",
    from: minutes * MINUTE,
    until: Infinity,
    asks: [{ kind: "mig", resource: `nvidia.com/mig-${profile}`, profile, count: 1 }],
    evidence: [],
  };
}

/** The beginning of the new instances of the first GPU, in minutes. */
function cutAt(given: {
  readonly pod?: Holding;
  readonly proven?: readonly ProvenLabel[];
  readonly others?: readonly SeenPart[];
  readonly labeled?: number;
}): number {
  const { pod, proven = [], others, labeled } = given;
  const fact = (profiles: Readonly<Record<string, number>>) => {
    const [kind] = inventoryFact().gpus;
    return inventoryFact({ gpus: [{ ...kind!, mig: { strategy: "mixed", profiles } }] });
  };
  const state = { from: 0, until: Infinity, describedSince: 0, fact: fact({ "7g.40gb": 1 }) };
  const states =
    labeled === undefined ? [state] : [state, { ...state, from: labeled * MINUTE, fact: fact({ "3g.20gb": 2 }) }];
  const record: NodeRecord = {
    cluster: "test",
    node: "gpu-a",
    isBare: false,
    machines: [{ uid: "m", from: 0, until: Infinity, most: 2, states }],
    pods: new Map(
      pod === undefined
        ? []
        : [[pod.uid, { fact: workloadFact(), holding: pod, startedAt: Infinity, wholeAt: -Infinity }]],
    ),
    claimed: () => [],
    slices: [],
    taints: [],
    namespace: () => [],
    seen: [gpu(0, CUT), ...(others === undefined ? [] : [gpu(1, others)])],
    proven,
  };
  const [first] = withEarliestLayouts(record).seen;
  const [former, ...made] = first!.parts;
  expect(made.map(({ from }) => from)).toEqual([former!.until, former!.until]);
  return former!.until / MINUTE;
}

const PROVEN: ProvenLabel = { slot: 0, part: "2", namespace: "ml", pod: "p", podUid: "", at: 70 * MINUTE };
const ELSEWHERE = [part("1", "3g.20gb", {})];

describe("instances that were created between two samples", () => {
  it("count from the first sample that shows them, without other evidence", () => {
    expect(cutAt({})).toBe(60);
    expect(cutAt({ pod: podFrom(40, "1g.5gb") })).toBe(60);
  });

  it("count from the binding of a pod that requests a profile which the node did not have", () => {
    expect(cutAt({ pod: podFrom(40) })).toBe(40);
    expect(cutAt({ pod: podFrom(40), others: ELSEWHERE })).toBe(60);
  });

  it("count from the binding of a pod that has one of them by a label, at any time", () => {
    expect(cutAt({ pod: podFrom(40), others: ELSEWHERE, proven: [PROVEN] })).toBe(40);
    expect(cutAt({ pod: podFrom(40), others: ELSEWHERE, proven: [{ ...PROVEN, slot: 1, part: "1" }] })).toBe(60);
  });

  it("do not count before the last sample that shows the former ones", () => {
    expect(cutAt({ pod: podFrom(20), proven: [PROVEN] })).toBe(60);
    expect(cutAt({ labeled: 25 })).toBe(60);
  });

  it("count from the time at which the node's labels have more of them", () => {
    expect(cutAt({ labeled: 45 })).toBe(45);
    expect(cutAt({ labeled: 45, pod: podFrom(40) })).toBe(40);
  });
});
