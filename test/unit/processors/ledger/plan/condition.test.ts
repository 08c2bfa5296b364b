import { expect, it } from "vitest";
import { unavailableAt, type SlotAt } from "../../../../../processors/ledger/plan/condition.ts";
import type { Machine, SeenGpu } from "../../../../../processors/ledger/plan/node-record.ts";
import { inventoryFact } from "../../../../support/facts.ts";

const AT = Date.UTC(2026, 2, 2);

/** A machine whose Node counts eight GPUs and offers `offered` of them. */
function machine(offered: number): Machine {
  const fact = inventoryFact({ capacity: { "nvidia.com/gpu": 8 }, allocatable: { "nvidia.com/gpu": offered } });
  return {
    uid: "m",
    from: 0,
    until: Infinity,
    most: 8,
    states: [{ from: 0, until: Infinity, describedSince: 0, fact }],
  };
}

function slots(given: {
  readonly held?: readonly number[];
  readonly silent?: readonly number[];
  count?: number;
}): SlotAt[] {
  const { held = [], silent = [], count = 8 } = given;
  return Array.from({ length: count }, (_, slot) => ({
    slot,
    seen: silent.includes(slot) ? undefined : seen(slot),
    fault: undefined,
    isUnhealthy: false,
    taint: undefined,
    isCut: false,
    isHeld: held.includes(slot),
  }));
}

function seen(index: number): SeenGpu {
  const spans = { parts: [], labels: [], strangers: [], faults: [] };
  return { gpuKey: `GPU-${index}`, index, from: 0, until: Infinity, hasProcesses: false, ...spans };
}

it.each([
  ["that is free, with the highest index", { held: [6, 7] }, [5]],
  ["without samples, held or not", { held: [2, 6, 7], silent: [2] }, [2]],
  ["that is free, if none has samples", { held: [7], silent: [0, 1, 2, 3, 4, 5, 6, 7] }, [6]],
  ["with the highest index, if all are held", { held: [0, 1, 2, 3, 4, 5, 6, 7] }, [7]],
])("a GPU that is withdrawn is the one %s", (_, given, expected) => {
  const because = unavailableAt(machine(7), slots(given), AT);
  expect([...because]).toEqual(expected.map((slot) => [slot, "withdrawn"]));
});

it("a GPU that the Node does not count is absent: the one without samples", () => {
  const because = unavailableAt(machine(8), slots({ count: 9, silent: [3] }), AT);
  expect([...because]).toEqual([[3, "absent"]]);
});

it("a GPU that is neither partitioned nor offered as a whole is in MIG mode without instances if others have instances: a free one, the highest index first", () => {
  const gpus = [
    { ...inventoryFact({}).gpus[0]!, count: 4, mig: { strategy: "mixed" as const, profiles: { "1g.5gb": 2 } } },
  ];
  const offered = { "nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 2 };
  const fact = inventoryFact({ gpus, capacity: offered, allocatable: offered });
  const states = [{ from: 0, until: Infinity, describedSince: 0, fact }];
  const here = slots({ count: 4, held: [3] }).map((slot) => ({ ...slot, isCut: slot.slot === 0 }));
  const mixed = { uid: "m", from: 0, until: Infinity, most: 4, states };
  expect([...unavailableAt(mixed, here, AT)]).toEqual([
    [2, "mig-without-instances"],
    [1, "mig-without-instances"],
  ]);
  const unsaid = { ...fact, capacity: { "nvidia.com/mig-1g.5gb": 2 } };
  expect([...unavailableAt({ ...mixed, states: [{ ...states[0]!, fact: unsaid }] }, here, AT)]).toEqual([]);
});
