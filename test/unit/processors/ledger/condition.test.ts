import { expect, it } from "vitest";
import { unavailableAt, type SlotAt } from "../../../../processors/ledger/plan/condition.ts";
import type { Machine, SeenGpu } from "../../../../processors/ledger/plan/node-record.ts";
import { inventoryFact } from "../../../support/facts.ts";

const AT = Date.UTC(2026, 2, 2);

/** A machine whose Node counts eight GPUs and offers so many of them. */
function machine(offered: number): Machine {
  const fact = inventoryFact({ capacity: { "nvidia.com/gpu": 8 }, allocatable: { "nvidia.com/gpu": offered } });
  return { uid: "m", from: 0, until: Infinity, most: 8, states: [{ from: 0, until: Infinity, placedSince: 0, fact }] };
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
    isHeld: held.includes(slot),
  }));
}

function seen(index: number): SeenGpu {
  const spans = { parts: [], labels: [], strangers: [], faults: [] };
  return { gpuKey: `GPU-${index}`, index, from: 0, until: Infinity, hasProcesses: false, ...spans };
}

it.each([
  ["that is free, with the highest index", { held: [6, 7] }, [5]],
  ["of which samples say nothing, held or not", { held: [2, 6, 7], silent: [2] }, [2]],
  ["that is free, where samples say nothing of any", { held: [7], silent: [0, 1, 2, 3, 4, 5, 6, 7] }, [6]],
  ["with the highest index, where all are held", { held: [0, 1, 2, 3, 4, 5, 6, 7] }, [7]],
])("a GPU that is withdrawn is the one %s", (_, given, expected) => {
  const because = unavailableAt(machine(7), slots(given), AT);
  expect([...because]).toEqual(expected.map((slot) => [slot, "withdrawn"]));
});

it("a GPU that the Node does not count is absent: the one of which samples say nothing", () => {
  const because = unavailableAt(machine(8), slots({ count: 9, silent: [3] }), AT);
  expect([...because]).toEqual([[3, "absent"]]);
});
