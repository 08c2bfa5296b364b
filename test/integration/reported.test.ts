import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UsageHour } from "../../domain/allocation/usage-hour.ts";
import { DEFAULT_POLICY } from "../../domain/policy/policy.ts";
import type { GpuLayout } from "../../domain/share/layout.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { differences } from "../../scenarios/expectation.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { chargeHour } from "../../snapshot/charges.ts";
import { factsOf } from "../../snapshot/facts.ts";
import { recordsOf } from "../../snapshot/records.ts";
import { samplesOf } from "../../snapshot/samples.ts";
import { createTestDatabase } from "../support/database.ts";
import { liveAndBooked } from "../support/live-shares.ts";
import { playTogether, type Played } from "../support/play-ledger.ts";
import { seenAt } from "../support/snapshot/seen-scenario.ts";

const FOLDER = "test/scenarios/reported";
/** Its last hour has samples from before the page fell silent, which a snapshot at the end does not see. */
const OF_THE_PAST = "hami-monitor-that-falls-silent.yaml";
/** Parts whose size the ledger learns from all that a node shows in an hour: live series have the size of the request. */
const UNLIKE: ReadonlySet<string> = new Set([
  "hami-instance-of-mig.yaml",
  "instances-of-an-unknown-model.yaml",
  "volcano-units-of-memory.yaml",
]);
const scenarios = readdirSync(FOLDER).map((file) => {
  const path = `${FOLDER}/${file}`;
  return { file, scenario: readScenario(readFileSync(path, "utf8"), path) };
});

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

/** Returns the usage of the hour that a snapshot at the end of the scenario charges. */
function seenUsage(cluster: string, scenario: Scenario): readonly UsageHour[] {
  const { files, period } = scenario;
  const seen = seenAt(files!, period.end);
  const { book, owners } = rulesOf(scenario);
  const facts = factsOf(seen, { cluster, resourceNames: files!.resourceNames });
  const { samples } = samplesOf(seen, cluster);
  const records = recordsOf(facts, samples, { cluster, atMillis: period.end });
  return chargeHour(records, samples, { book, owners, policy: DEFAULT_POLICY, atMillis: period.end }).usage;
}

describe("clusters that users have reported", () => {
  let store: StoreClient;
  let played: ReadonlyMap<string, Played>;
  beforeAll(async () => {
    store = await createTestDatabase("reported");
    played = await playTogether(store, Object.fromEntries(scenarios.map(({ file, scenario }) => [file, scenario])));
  });
  afterAll(async () => {
    await store.close();
  });

  it.each(scenarios.filter(({ file }) => !UNLIKE.has(file)).map(({ scenario, file }) => [file, scenario] as const))(
    "have the ledger's shares in live series: %s",
    async (file, scenario) => {
      const { live, booked } = await liveAndBooked(scenario, played.get(file)!.usage);
      expect(live).toEqual(booked);
    },
  );

  it.each(scenarios.filter(({ file }) => UNLIKE.has(file)).map(({ scenario, file }) => [file, scenario] as const))(
    "have the size of the request in live series: %s",
    async (file, scenario) => {
      const { live, booked } = await liveAndBooked(scenario, played.get(file)!.usage);
      expect(live).not.toEqual(booked);
    },
  );

  it.each(scenarios.map(({ scenario, file }) => [scenario.title, file, scenario] as const))(
    "have the written bill, and a snapshot has the ledger's GPUs and holders: %s (%s)",
    (_, file, scenario) => {
      const { usage, bills, breaches } = played.get(file)!;
      expect(Object.keys(scenario.expect).length).toBeGreaterThan(0);
      expect(differences(scenario, bills)).toEqual([]);
      expect(breaches).toEqual([]);
      if (scenario.files === undefined || scenario.nodes.length > 0 || file === OF_THE_PAST) return;
      const last = usage.filter(({ segment }) => segment.untilMillis === scenario.period.end);
      expect(seenUsage(file, scenario).map(stateOf)).toEqual(last.map(stateOf));
    },
  );
});
