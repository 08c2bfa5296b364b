import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClusterFact } from "../../../../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../../../../domain/inventory.ts";
import { clusterFactKey, inventoryKey, workloadKey } from "../../../../../domain/messages/fact-message.ts";
import type { WorkloadFact } from "../../../../../domain/workload.ts";
import {
  createHoldings,
  GONE_KNOWN_MILLIS,
  type HoldingsIndex,
} from "../../../../../processors/ingest/holdings/holdings.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../../../../support/facts.ts";
import { rounds } from "../../../../support/rounds.ts";
import { MINUTE_MILLIS as MINUTE } from "../../../../../domain/time.ts";

const NODES = ["gpu-a", "gpu-b"];
const NAMES = ["train-0", "train-1"];

type AnyFact =
  | { readonly of: "workload"; readonly fact: WorkloadFact }
  | { readonly of: "inventory"; readonly fact: InventoryFact }
  | { readonly of: "cluster"; readonly fact: ClusterFact };

const when = fc.record({
  epoch: fc.integer({ min: 1, max: 2 }),
  version: fc.integer({ min: 1, max: 40 }),
  minutes: fc.integer({ min: 0, max: 40 }),
  over: fc.constantFrom("no", "no", "finished", "ended"),
});
const anyFact: fc.Arbitrary<AnyFact> = fc
  .tuple(
    when,
    fc.constantFrom("workload", "workload", "workload", "inventory", "claim", "slice"),
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom("", ...NODES),
  )
  .map(([{ epoch, version, minutes, over }, kind, number, node]): AnyFact => {
    const seenAtMillis = NOON + minutes * MINUTE;
    const end = over === "ended" ? { end: { atMillis: seenAtMillis, inferred: false } } : {};
    const base = { epoch, resourceVersion: String(version), seenAtMillis, ...end };
    if (kind === "workload") {
      const finished = over === "finished" ? { finished: seenAtMillis } : {};
      const times = { created: NOON, scheduled: NOON + number, ...finished };
      return {
        of: "workload",
        fact: workloadFact({ ...base, uid: `pod-${number}`, name: NAMES[version % 2]!, node, times }),
      };
    }
    if (kind === "inventory") {
      const [nvidia] = inventoryFact().gpus;
      return {
        of: "inventory",
        fact: inventoryFact({ ...base, node: node || "gpu-a", gpus: [{ ...nvidia!, count: version }] }),
      };
    }
    const device = { driver: "gpu.nvidia.com", pool: "p", device: `d${version % 2}` };
    const uid = `${kind}-${number}`;
    return {
      of: "cluster",
      fact:
        kind === "claim"
          ? ({
              ...namespaceFact({ ...base, uid, name: uid, namespace: "ml" } as object),
              kind: "ResourceClaim",
              body: { devices: [device], reservedFor: [`pod-${version % 3}`] },
            } as ClusterFact)
          : ({
              ...namespaceFact({ ...base, uid, name: uid } as object),
              kind: "ResourceSlice",
              body: {
                driver: device.driver,
                pool: "p",
                node,
                devices: [{ name: device.device, uuid: `GPU-${version}` }],
              },
            } as ClusterFact),
    };
  });

const idOf = ({ of, fact }: AnyFact): string =>
  of === "workload" ? workloadKey(fact) : of === "inventory" ? inventoryKey(fact) : clusterFactKey(fact);

function apply(holdings: HoldingsIndex, { of, fact }: AnyFact): void {
  if (of === "workload") holdings.workload(fact);
  else if (of === "inventory") holdings.inventory(fact);
  else holdings.clusterFact(fact);
}

/** The results of all queries of the index. */
function everything(holdings: HoldingsIndex): unknown {
  const cluster = holdings.cluster("test");
  return {
    nodes: NODES.map((name) => {
      const node = cluster.node(name);
      return node === undefined
        ? undefined
        : { pods: node.pods, gpus: node.gpus, claimed: node.pods.map(({ uid }) => node.claimed(uid)) };
    }),
    names: NAMES.map((name) => cluster.named("ml", name)),
    pods: [0, 1, 2].map((number) => cluster.pod(`pod-${number}`)),
  };
}

describe("the index of holders", () => {
  it("is the same for any order of the facts: replayed, late or out of order", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(anyFact, {
          maxLength: 25,
          selector: (one) => `${idOf(one)} ${one.fact.epoch} ${one.fact.resourceVersion}`,
        }),
        fc.array(fc.nat(24), { maxLength: 10 }),
        fc.infiniteStream(fc.nat()),
        (facts, replays, order) => {
          const [plain, shuffled] = [createHoldings(), createHoldings()];
          for (const one of facts) apply(plain, one);
          const sent = [...facts, ...replays.flatMap((index) => facts[index] ?? [])]
            .map((one) => ({ one, key: order.next().value as number }))
            .toSorted((a, b) => a.key - b.key);
          for (const { one } of sent) apply(shuffled, one);
          expect(everything(shuffled)).toEqual(everything(plain));
        },
      ),
      { numRuns: rounds(500) },
    );
  });

  it("changes a node's version only for changes of the node's devices", () => {
    const holdings = createHoldings();
    const cluster = holdings.cluster("test");
    let version = 100;
    const pod = (given: Partial<WorkloadFact>): void =>
      holdings.workload(workloadFact({ resourceVersion: String((version += 1)), ...given }));
    pod({});
    pod({ uid: "pod-2", node: "gpu-b" });
    const node = cluster.node("gpu-a")!;
    const before = node.version;
    pod({ phase: "Running", restarts: 3, labels: { team: "speech" } });
    pod({ uid: "pod-2", node: "gpu-b", times: { created: NOON, finished: NOON + 1 } });
    pod({ uid: "pod-3", node: "" });
    expect(node.version).toBe(before);
    pod({ times: { created: NOON, scheduled: NOON, finished: NOON + 5 } });
    expect(node.version).toBeGreaterThan(before);
    expect(cluster.node("gpu-a")).toBe(node);
  });

  it("keeps an ended pod for a quarter of an hour of the facts' time, then removes it for good, also after replays", () => {
    const holdings = createHoldings();
    const alive = workloadFact();
    const at = NOON + 10 * MINUTE;
    const gone = workloadFact({
      resourceVersion: "120",
      seenAtMillis: at,
      end: { atMillis: at, inferred: false },
    });
    const later = (millis: number): void =>
      holdings.workload(
        workloadFact({ uid: "other", node: "gpu-b", resourceVersion: String(millis), seenAtMillis: millis }),
      );
    const pods = (): readonly string[] =>
      holdings
        .cluster("test")
        .node("gpu-a")
        ?.pods.map(({ uid }) => uid) ?? [];
    holdings.workload(alive);
    holdings.workload(gone);
    holdings.tombstone("workload", workloadKey(gone));
    holdings.workload(gone);
    later(at + GONE_KNOWN_MILLIS);
    expect(pods()).toEqual(["pod-1"]);
    later(at + GONE_KNOWN_MILLIS + MINUTE);
    expect(pods()).toEqual([]);
    holdings.workload(alive);
    holdings.workload(gone);
    expect(pods()).toEqual([]);
    expect(holdings.cluster("test").node("gpu-a")).toBeUndefined();
  });

  it("removes an object without an end by its tombstone, and ignores an invalid key", () => {
    const holdings = createHoldings();
    holdings.workload(workloadFact());
    holdings.inventory(inventoryFact({ node: "gpu-b" }));
    for (const key of ["", "{}", "[1]", '["nowhere","pod-1"]', '["test"]']) holdings.tombstone("workload", key);
    expect(holdings.cluster("test").pod("pod-1")).toBeDefined();
    holdings.tombstone("workload", workloadKey(workloadFact()));
    holdings.tombstone("inventory", inventoryKey(inventoryFact({ node: "gpu-b" })));
    expect(holdings.cluster("test").pod("pod-1")).toBeUndefined();
    expect(holdings.cluster("test").node("gpu-b")).toBeUndefined();
  });

  it("keeps clusters separate", () => {
    const holdings = createHoldings();
    holdings.workload(workloadFact());
    holdings.workload(workloadFact({ cluster: "other", node: "gpu-b" }));
    expect(holdings.cluster("test").pod("pod-1")?.node).toBe("gpu-a");
    expect(holdings.cluster("other").pod("pod-1")?.node).toBe("gpu-b");
  });
});
