import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UsageHour } from "../../domain/allocation/usage-hour.ts";
import { DEFAULT_POLICY } from "../../domain/policy/policy.ts";
import type { GpuLayout } from "../../domain/share/layout.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { chargeHour } from "../../snapshot/charges.ts";
import { factsOf } from "../../snapshot/facts.ts";
import { recordsOf } from "../../snapshot/records.ts";
import { samplesOf } from "../../snapshot/samples.ts";
import { createTestDatabase } from "../support/database.ts";
import { playAs } from "../support/play-ledger.ts";
import { seenAt } from "../support/snapshot/seen-scenario.ts";

const FOLDER = "test/scenarios/reported";
/** Its last hour has samples from before the page fell silent, which a snapshot at the end does not see. */
const OF_THE_PAST = "hami-monitor-that-falls-silent.yaml";
const SCENARIOS = readdirSync(FOLDER)
  .map((file) => ({ file, scenario: readScenario(readFileSync(`${FOLDER}/${file}`, "utf8"), `${FOLDER}/${file}`) }))
  .filter(({ scenario }) => scenario.files !== undefined && scenario.nodes.length === 0)
  .filter(({ file }) => file !== OF_THE_PAST);

/** The parts of a row that do not depend on its time. Activities are means in parts per million. */
function stateOf({ node, slot, segment, machine, holders }: UsageHour): object {
  const { gpu, unavailableBecause, isCordoned, claims } = segment;
  const { pool, instanceType, capacityType, delivered } = machine;
  return {
    gpu: `${node}/${slot}`,
    model: gpu.model,
    memoryMiB: gpu.memoryMiB,
    layout: inOrder(gpu.layout),
    unavailableBecause,
    isCordoned,
    machine: { pool, instanceType, capacityType, delivered },
    claims: claims.map(({ claim: { held }, stage, measured }, index) => {
      const { namespace, name, workload, type, evidence } = holders[index]!;
      const activity =
        measured.coveredMillis === 0 ? null : Math.round(Number(measured.activityPpmMillis) / measured.coveredMillis);
      return { pod: `${namespace}/${name}`, workload, type, evidence, held, stage, activity };
    }),
  };
}

/** Instances have no order. */
function inOrder(layout: GpuLayout): GpuLayout {
  if (layout.kind !== "mig") return layout;
  return { ...layout, instances: layout.instances.toSorted((one, other) => (one.id < other.id ? -1 : 1)) };
}

describe("a snapshot of a reported case", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("snapshot_reported");
  });
  afterAll(() => store.close());

  it.each(SCENARIOS)("has the GPUs and holders of the ledger at the end of $file", async ({ file, scenario }) => {
    const cluster = file.replace(".yaml", "");
    const { usage } = await playAs(store, cluster, scenario, { chargedTwice: 0 });
    const { end } = scenario.period;
    const seen = seenAt(scenario.files!, end);
    const rules = { cluster, resourceNames: scenario.files!.resourceNames };
    const { book, owners } = rulesOf(scenario);
    const facts = factsOf(seen, rules);
    const { samples } = samplesOf(seen, cluster);
    const records = recordsOf(facts, samples, { cluster, atMillis: end });
    const hour = chargeHour(records, samples, { book, owners, policy: DEFAULT_POLICY, atMillis: end });
    const last = usage.filter(({ segment }) => segment.untilMillis === end);
    expect(hour.usage.map(stateOf)).toEqual(last.map(stateOf));
  });
});
