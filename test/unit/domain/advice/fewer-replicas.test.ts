import { describe, expect, it } from "vitest";
import { NOT_HELD, NO_SAMPLE, type PodEvidence, type WorkloadEvidence } from "../../../../domain/advice/evidence.ts";
import type { RuleContext } from "../../../../domain/advice/rule.ts";
import { fewerReplicas } from "../../../../domain/advice/rules/fewer-replicas.ts";
import { HOUR_MILLIS } from "../../../../domain/time.ts";

const HOURS = 4;
const WINDOW = { from: 0, until: HOURS * HOUR_MILLIS };
const PPM = 1_000_000;
const CONTEXT = { window: WINDOW, minReplicas: 2, headroom: 0 } as unknown as RuleContext;
const hour = { heldMillis: 0, startingMillis: 0, waitingMillis: 0, coveredMillis: 0, activityPpmMillis: 0, maxPpm: 0 };

const pod = (name: string, of: Partial<PodEvidence>): PodEvidence => ({
  name,
  firstAt: 0,
  lastAt: WINDOW.until,
  devices: [],
  hourPeaks: Array.from({ length: HOURS }, () => PPM),
  ...of,
});
const engine = (demand: number, { requests = 4, limit = 0, hours = HOURS } = {}): Partial<PodEvidence> => ({
  engine: {
    hourDemands: Array.from({ length: HOURS }, (_, at) => (at < hours ? demand * PPM : NOT_HELD)),
    hourRequests: Array.from({ length: HOURS }, () => requests),
    limit,
  },
});
const service = (pods: readonly PodEvidence[]): WorkloadEvidence => ({
  cluster: "c",
  namespace: "chat",
  kind: "Deployment",
  workload: "llm",
  type: "inference",
  isRestartable: false,
  team: "chat",
  firstAt: 0,
  lastAt: WINDOW.until,
  pods,
  hours: Array.from({ length: HOURS }, () => ({ ...hour, memoryMaxMiB: 0, pods: pods.length })),
});

/** The released pods of the card; undefined without a card. */
const released = (...pods: readonly Partial<PodEvidence>[]): unknown => {
  const found = fewerReplicas(service(pods.map((of, index) => pod(`p${index}`, of))), CONTEXT);
  return typeof found === "string" ? found : found[0]?.changes.map((change) => Object.values(change)[0]);
};
const names = (...pods: readonly string[]) => [expect.objectContaining({ pod: pods }) as unknown];

describe("fewer replicas, by the pages of engines", () => {
  it("are not needed if the demand of all hours fits into fewer, however active the GPUs are", () => {
    // 4 × 0.3 = 1.2; ÷ 0.7 = 1.71.
    const quiet = engine(0.3);
    expect(released(quiet, quiet, quiet, quiet)).toEqual(names("p2", "p3"));
    // 4 × 0.4 = 1.6; ÷ 0.7 = 2.29.
    expect(released(engine(0.4), engine(0.4), engine(0.4), engine(0.4))).toEqual(names("p3"));
    expect(released(engine(0.6), engine(0.6), engine(0.6), engine(0.6))).toBeUndefined();
  });

  it("release the pods that are not needed also on shared GPUs, whose activity is not known", () => {
    const shared = { ...engine(0.3), hourPeaks: [] };
    expect(released(shared, shared, shared, shared)).toEqual(names("p2", "p3"));
  });

  it("count the requests of a replica against the most that ran beside a waiting one", () => {
    // Each replica has 8 of 10 requests: 4 × 0.8 ÷ 0.7 = 4.57.
    const busy = engine(0.1, { requests: 8, limit: 10 });
    expect(released(busy, busy, busy, busy)).toBeUndefined();
    const quiet = engine(0.1, { requests: 2, limit: 10 });
    expect(released(quiet, quiet, quiet, quiet)).toEqual(names("p2", "p3"));
  });

  it("need a page in each hour of each pod; otherwise the activity counts", () => {
    const hole = engine(0.1);
    const incomplete = { engine: { ...hole.engine!, hourDemands: [NO_SAMPLE, ...hole.engine!.hourDemands.slice(1)] } };
    expect(released(incomplete, hole, hole, hole)).toBeUndefined();
    expect(released({}, hole, hole, hole)).toBeUndefined();
  });

  it("are found among very many pods", () => {
    const pods = Array.from({ length: 40_000 }, (_, index) => pod(String(index), engine(0.0001)));
    expect(fewerReplicas(service(pods), CONTEXT)).toHaveLength(1);
  });
});
