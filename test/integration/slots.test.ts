import { afterAll, beforeAll, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertInventory } from "../support/insert-facts.ts";
import { inventoryFact, NOON } from "../support/facts.ts";
import { createTestDatabase } from "../support/database.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const RUN = "00000000-0000-4000-8000-000000000001";
let store: StoreClient;

beforeAll(async () => {
  store = await createTestDatabase("slots");
});
afterAll(async () => {
  await store.close();
});

/** A published hour of one GPU, `hours` after noon. */
async function insertHour(hours: number, node: string, gpu: string, key: string): Promise<void> {
  const [from, until] = [NOON + hours * HOUR, NOON + (hours + 1) * HOUR].map((at) => new Date(at).toISOString());
  const row = { run_id: RUN, cluster: "test", node, gpu_key: key, gpu, model: "NVIDIA H100", scope: "device" };
  await store.insertJson("gpu_hours", [{ ...row, bucket: from, first_at: from, last_at: until }]);
}

it("a GPU has its slots with their dates: on machines of Kubernetes, on recreated machines of the same name, and without Kubernetes", async () => {
  const window = new Date(NOON).toISOString();
  await store.insertJson("runs", [
    {
      kind: "rollup",
      cluster: "test",
      window_start: window,
      window_end: window,
      run_id: RUN,
      generation: 1,
      published_at: window,
    },
  ]);
  const gpus = [{ ...inventoryFact().gpus[0]!, count: 2 }];
  const machine = { gpus, joined: NOON - HOUR };
  await insertInventory(store, [
    inventoryFact({ ...machine, uid: "machine-1" }),
    // The same name on another machine, three hours later.
    inventoryFact({ ...machine, uid: "machine-2", joined: NOON + 3 * HOUR, resourceVersion: "101" }),
    inventoryFact({ ...machine, node: "gpu-b", uid: "silent" }),
    inventoryFact({
      ...machine,
      node: "gpu-b",
      uid: "silent",
      resourceVersion: "102",
      end: { atMillis: NOON + 2 * HOUR, inferred: false },
    }),
  ]);
  await insertHour(0, "gpu-a", "0", "GPU-one");
  await insertHour(1, "gpu-a", "0", "GPU-one");
  await insertHour(3, "gpu-a", "0", "GPU-two");
  // After the machine left, an exporter under its name reports a machine that Kubernetes does not have.
  await insertHour(4, "gpu-b", "0", "GPU-three");
  await insertHour(0, "bare-metal", "1", "GPU-four");
  const rows = await store.query<Record<string, string | number>>(`
    SELECT node, node_uid, gpu, gpu_key, source,
      intDiv(toUnixTimestamp64Milli(first_at) - ${NOON}, ${HOUR}) AS first_hour,
      if(toYear(last_at) > 2200, 99, intDiv(toUnixTimestamp64Milli(last_at) - ${NOON}, ${HOUR})) AS last_hour
    FROM gpu_slots ORDER BY node, node_uid, gpu, first_at`);
  const slots = rows.map((row) => Object.values(row).map(String).join(" "));
  expect(slots).toEqual([
    "bare-metal  1 GPU-four scrapes 0 1",
    "gpu-a machine-1 0 GPU-one kubernetes 0 2",
    "gpu-a machine-1 1  kubernetes -1 3",
    "gpu-a machine-2 0 GPU-two kubernetes 3 4",
    "gpu-a machine-2 1  kubernetes 3 99",
    "gpu-b  0 GPU-three scrapes 4 5",
    "gpu-b silent 0  kubernetes -1 2",
    "gpu-b silent 1  kubernetes -1 2",
  ]);
});
