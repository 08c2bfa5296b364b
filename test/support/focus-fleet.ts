import { lastUnits } from "../../domain/exact/units.ts";
import type { InvoiceLine } from "../../domain/charge/invoice.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { openBooks, type Books } from "./books.ts";
import { scenarioWith } from "./played.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

const UNTIL = "2026-04-01T02:00:00Z";

/** The commitments of that fleet's price book. */
export const FOCUS_COMMITMENTS = [
  { from: "2026-03-31T22:30:00Z", until: "2027-01-01", amount: "9.99", per: "hour", scope: { model: "NVIDIA-L4" } },
];

/**
 * The last three hours of March and the first two of April: GPUs that are shared for odd times at odd prices, a machine with a price per hour, an
 * owned machine with paid power, a machine without a price, a commitment, a markup, and free time that is spread over the node's holders.
 */
function fleet(given: { readonly isLate?: boolean } = {}): Scenario {
  const pod = (name: string, namespace: string, node: string, more: object) => ({ name, namespace, node, ...more });
  return scenarioWith({
    period: { start: "2026-03-31T21:00:00Z", end: UNTIL },
    nodes: [
      { name: "gpu-a", model: "NVIDIA-L4", gpus: 2, instanceType: "g6.24xlarge", capacityType: "spot", until: UNTIL },
      { name: "gpu-b", model: "NVIDIA-A100-SXM4-40GB", gpus: 3, instanceType: "p4d.24xlarge", until: UNTIL },
      { name: "gpu-c", model: "NVIDIA-H100", gpus: 1, pool: "unpriced", until: UNTIL },
      { name: "dgx-1", model: "NVIDIA-H100", gpus: 1, pool: "dgx", capacityType: "owned", until: UNTIL },
    ],
    namespaces: {
      vision: { labels: { team: "vision", "cost-center": "4711" } },
      nlp: { labels: { team: "nlp" } },
    },
    pods: [
      pod("v-0", "vision", "gpu-a", {
        holds: { gpus: 1 },
        devices: [0],
        activity: 0.37,
        scheduled: "2026-03-31T21:07:13Z",
        finished: "2026-03-31T23:41:59Z",
        labels: { "mlflow.run-id": "=7", "gpu-ledger/node": "mine" },
        queue: "batch",
      }),
      pod("v-1", "vision", "gpu-b", {
        holds: { hami: { memoryMiB: 13_000 } },
        devices: [0],
        evidence: "annotation",
        activity: 0.5,
      }),
      pod("n-0", "nlp", "gpu-b", {
        holds: { hami: { memoryMiB: 7_000, cores: 10 } },
        devices: [0],
        evidence: "annotation",
        activity: 0.2,
        finished: "2026-04-01T00:59:01Z",
      }),
      // An hour at 300 W, and then one at 700 W.
      pod("v-2", "vision", "dgx-1", {
        holds: { gpus: 1 },
        devices: [0],
        activity: 1,
        powerWatts: 300,
        finished: "2026-03-31T22:00:00Z",
      }),
      pod("n-3", "nlp", "dgx-1", {
        holds: { gpus: 1 },
        devices: [0],
        activity: 1,
        powerWatts: 700,
        scheduled: "2026-03-31T22:00:00Z",
        finished: "2026-03-31T23:00:00Z",
      }),
      pod("n-1", "nlp", "gpu-c", { holds: { gpus: 1 }, devices: [0], activity: 1 }),
      ...(given.isLate === true
        ? [pod("n-2", "nlp", "gpu-b", { holds: { gpus: 1 }, devices: [1], finished: "2026-03-31T22:30:00Z" })]
        : []),
    ],
    prices: [
      {
        match: { instanceType: "g6.24xlarge" },
        from: "2026-01-01",
        per: "gpu-hour",
        list: "3.2773",
        contracted: "2.9496",
        effective: given.isLate === true ? "1.02" : "1.0131",
      },
      { match: { instanceType: "p4d.24xlarge" }, from: "2026-01-01", per: "node-hour", list: "32.77", gpuPart: "0.9" },
      {
        match: { pool: "dgx" },
        from: "2026-01-01",
        owned: { inService: "2026-01-01", purchase: "148800", months: 48, overheadPerMonth: "620", kWhPrice: "0.30" },
      },
    ],
    commitments: FOCUS_COMMITMENTS,
    markup: [{ team: "nlp", percent: "7.5" }],
    policies: [
      {
        name: "shared",
        payers: { unallocated: "spread", stranded: "spread" },
        spread: { over: "node", by: "cost", window: "hour" },
      },
      { name: "plain" },
    ],
  });
}

const INVOICE: InvoiceLine = {
  key: "invoice[0]",
  account: "main",
  instanceType: "g6.24xlarge",
  capacityType: "spot",
  currency: "USD",
  amount: lastUnits<"currency">(6_100_000_000n),
};

/** The policies of that fleet, in the form of a configuration. */
export const FOCUS_POLICIES = fleet().policies.map(({ name }) => ({ name, keep: true }));

/**
 * Plays that fleet into a store: March is closed with an invoice. After that a fact of a pod comes late and a price of March changes, so April has
 * corrections.
 */
export async function playFocusFleet(store: StoreClient): Promise<Books> {
  const books = openBooks(store, fleet());
  await books.arrive(fleet());
  await books.settle(Date.UTC(2026, 3, 3));
  await books.close("2026-03", Date.UTC(2026, 3, 3), { invoice: [INVOICE] });
  await books.arrive(fleet({ isLate: true }));
  books.use(fleet({ isLate: true }));
  await books.settle(Date.UTC(2026, 3, 10));
  return books;
}
