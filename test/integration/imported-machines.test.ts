import { expect, onTestFinished, test } from "vitest";
import { IMPORT_EPOCH } from "../../collectors/prometheus/origin.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { readMachines } from "../../processors/ledger/metering/read-machines.ts";
import { createTestDatabase } from "../support/database.ts";
import { inventoryFact, NOON } from "../support/facts.ts";
import { insertInventory } from "../support/insert-facts.ts";

const HOUR = 3_600_000;
const JOINED = NOON - 900 * HOUR;

/** An imported fact of `gpu-a`, at an hour before or after noon. */
function imported(hour: number, given: Partial<InventoryFact> = {}): InventoryFact {
  const at = NOON + hour * HOUR;
  const of = { epoch: IMPORT_EPOCH, resourceVersion: String(at), seenAtMillis: at };
  return inventoryFact({ ...of, uid: `imported/gpu-a/${JOINED}`, joined: JOINED, ...given });
}

const ENDED = imported(0, { zone: "b", knownUntil: NOON });
const PAST = [imported(-10, { zone: "a" }), imported(-5, { zone: "b" }), ENDED];
const WATCHED = inventoryFact({
  epoch: NOON + 2 * HOUR,
  seenAtMillis: NOON + 2 * HOUR,
  uid: "real",
  joined: JOINED,
  zone: "c",
});

/** Returns the machines of `gpu-a` in the hour from an hour before or after noon on, with their zones. */
async function machinesAt(name: string, facts: readonly InventoryFact[]) {
  const store = await createTestDatabase(name);
  onTestFinished(() => store.close());
  await insertInventory(store, facts);
  return async (hour: number) => {
    const span = { from: NOON + hour * HOUR, until: NOON + (hour + 1) * HOUR };
    const [found] = await readMachines(store, [{ cluster: "test", nodes: ["gpu-a"], span }]);
    const machines = found!.get("gpu-a") ?? [];
    return machines.map(({ uid, until, states }) => [
      uid,
      until === Infinity ? until : (until - NOON) / HOUR,
      states.filter((state) => state.from < span.until && state.until > span.from).map(({ fact }) => fact.zone),
    ]);
  };
}

test("an imported machine ends with its import", async () => {
  const at = await machinesAt("imported_machine", PAST);
  expect(await at(-8)).toEqual([[`imported/gpu-a/${JOINED}`, 0, ["a"]]]);
  expect(await at(-2)).toEqual([[`imported/gpu-a/${JOINED}`, 0, ["b"]]]);
  expect(await at(0)).toEqual([]);
  expect(await at(30)).toEqual([]);
});

test("a later import continues the machine", async () => {
  const at = await machinesAt("imported_later", [
    ...PAST,
    imported(5, { zone: "d" }),
    imported(9, { zone: "d", knownUntil: NOON + 9 * HOUR }),
  ]);
  expect(await at(-2)).toEqual([[`imported/gpu-a/${JOINED}`, 9, ["b"]]]);
  expect(await at(7)).toEqual([[`imported/gpu-a/${JOINED}`, 9, ["d"]]]);
  expect(await at(9)).toEqual([]);
});

test("a machine that a watcher sees later is the imported one, with the states of both", async () => {
  const at = await machinesAt("imported_watched", [...PAST, WATCHED]);
  expect(await at(-8)).toEqual([["real", Infinity, ["a"]]]);
  expect(await at(3)).toEqual([["real", Infinity, ["c"]]]);
});

test("another machine of the same name ends the imported one", async () => {
  const at = await machinesAt("imported_other", [...PAST, { ...WATCHED, joined: NOON - HOUR }]);
  expect(await at(-2)).toEqual([[`imported/gpu-a/${JOINED}`, -1, ["b"]]]);
  expect((await at(-1)).map(([uid]) => uid)).toEqual(["real"]);
});
