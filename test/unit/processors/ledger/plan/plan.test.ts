import { describe, expect, it } from "vitest";
import type { PriceBook } from "../../../../../domain/price/book.ts";
import { knownDates } from "../../../../../processors/ledger/plan/known-dates.ts";
import type { NamespaceState, NodeRecord, SeenStranger } from "../../../../../processors/ledger/plan/node-record.ts";
import { planNode } from "../../../../../processors/ledger/plan/plan.ts";
import { readScenario } from "../../../../../scenarios/read.ts";
import { rulesOf } from "../../../../../scenarios/rules.ts";
import { inventoryFact } from "../../../../support/facts.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../../../domain/time.ts";

const START = Date.UTC(2026, 2, 2, 12);
const REACH = 75_000;
const WINDOW = { from: START, until: START + 60 * MINUTE };

/** A node of one GPU with a pod that only samples name. */
function recordOf(given: {
  readonly stranger?: SeenStranger;
  readonly namespaces?: readonly NamespaceState[];
}): NodeRecord {
  const { stranger, namespaces = [] } = given;
  const [kind] = inventoryFact().gpus;
  const fact = inventoryFact({ gpus: [{ ...kind!, count: 1 }], capacity: {}, allocatable: {} });
  const state = { from: 0, until: Infinity, describedSince: 0, fact };
  return {
    cluster: "test",
    node: "gpu-a",
    isBare: false,
    machines: [{ uid: "m", from: 0, until: Infinity, most: 1, states: [state] }],
    pods: new Map(),
    claimed: () => [],
    slices: [],
    taints: [],
    namespace: (name) => (name === "ml" ? namespaces : []),
    seen: [
      {
        gpuKey: "GPU-0",
        index: 0,
        from: START - REACH,
        until: Infinity,
        parts: [],
        labels: [],
        strangers: stranger === undefined ? [] : [stranger],
        faults: [],
        hasProcesses: false,
      },
    ],
    proven: [],
  };
}

const NO_PRICES = bookOf("");

function bookOf(prices: string): PriceBook {
  const head = "title: plan\nperiod: { start: 2026-03-02T00:00:00Z, end: 2026-03-03T00:00:00Z }\n";
  return rulesOf(readScenario(head + prices, "plan")).book;
}

/** The minutes of the hour at which each segment of the node begins, with a value that the test picks from the segment. */
function planned<Shown>(
  record: NodeRecord,
  show: (plan: ReturnType<typeof planNode>[number]) => Shown,
  book = NO_PRICES,
) {
  const segments = planNode(record, WINDOW, REACH, knownDates(book));
  expect(segments.at(-1)?.until).toBe(WINDOW.until);
  return segments.map((segment) => [(segment.from - START) / MINUTE, show(segment)] as const);
}

const STRANGER = {
  part: "",
  kind: "pod",
  namespace: "ml",
  name: "notebook-0",
  from: START - REACH,
  until: Infinity,
} as const;
const LABELS = { annotations: {}, labels: { team: "vision" } };

describe("the segments of a slot", () => {
  it("are one segment if nothing changes, with a cut where a price changes", () => {
    const claims = planned(recordOf({ stranger: STRANGER }), (plan) => plan.claims.map(({ since }) => since));
    expect(claims).toEqual([[0, [START - REACH]]]);
    const book = bookOf(`prices:
  - { match: {}, from: 2026-01-01, per: gpu-hour, effective: "2" }
  - { match: {}, from: 2026-03-02T12:20:00Z, per: gpu-hour, effective: "3" }`);
    expect(planned(recordOf({ stranger: STRANGER }), ({ claims }) => claims.length, book)).toEqual([
      [0, 1],
      [20, 1],
    ]);
  });

  it("have a cut where the labels of the namespace change if only samples name the pod", () => {
    const namespaces = [
      { from: 0, ...LABELS },
      { from: START + 15 * MINUTE, ...LABELS, labels: { team: "nlp" } },
      { from: START + 30 * MINUTE, ...LABELS, labels: { team: "nlp" } },
    ];
    const teams = planned(
      recordOf({ stranger: STRANGER, namespaces }),
      (plan) => plan.namespaces.get("ml")?.labels["team"],
    );
    expect(teams).toEqual([
      [0, "vision"],
      [15, "nlp"],
    ]);
  });

  it("have the start of a claim, also if it was before the hour", () => {
    const stranger = { ...STRANGER, from: START - MINUTE, until: START + 10 * MINUTE };
    const claims = planned(recordOf({ stranger }), (plan) => plan.claims.map(({ since }) => (since - START) / MINUTE));
    expect(claims).toEqual([
      [0, [-1]],
      [10, []],
    ]);
  });
});
