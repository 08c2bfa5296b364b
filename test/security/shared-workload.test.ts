import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";
import { NOTHING_CLOSED } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import type { Viewer } from "../../reports/access/viewer.ts";
import { servingExplanationSchema } from "../../reports/api/serving.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createTestDatabase } from "../support/database.ts";
import { createPut, messagesOf } from "../support/play.ts";
import { createReportsServer, VISION, type ReportsServer } from "../support/reports-server.ts";
import { SERVED_START as START } from "../support/served-fleet.ts";
import { insertServing, SERVING_INTERVAL as STEP, type ServingScrape } from "../support/serving.ts";

/** A Deployment of the namespace chat. The label of its second pod makes another team the owner of that pod. */
const FLEET = `
title: Two teams own pods of one workload
period: { start: 2026-03-02T08:00:00Z, end: 2026-03-02T09:00:00Z }
nodes:
  - { name: gpu-a, model: NVIDIA-L4, gpus: 2 }
namespaces:
  chat: { labels: { team: chat } }
pods:
  - { name: llm-0, namespace: chat, node: gpu-a, holds: { gpus: 1 }, devices: [0], activity: 1, workload: { kind: Deployment, name: llm } }
  - { name: llm-1, namespace: chat, node: gpu-a, holds: { gpus: 1 }, devices: [1], activity: 1, labels: { team: vision }, workload: { kind: Deployment, name: llm } }
prices:
  - { match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.60" }
`;

const pagesOf = (pod: string, model: string): readonly ServingScrape[] =>
  Array.from({ length: HOUR / STEP + 1 }, (_, index) => ({
    at: START + index * STEP,
    target: `http://${pod}:8000/metrics`,
    pod,
    series: [{ model, values: { prompt_tokens: index * 1_000, running: 1 } }],
  }));

describe("a workload with pods of two teams", () => {
  let store: StoreClient;
  let server: ReportsServer;
  beforeAll(async () => {
    store = await createTestDatabase("shared_workload");
    const scenario = readScenario(FLEET, "fleet");
    await createPut(store)([...messagesOf(scenario)]);
    await insertServing(store, "default", [
      ...pagesOf("llm-0", "model-of-chat"),
      ...pagesOf("llm-1", "model-of-vision"),
    ]);
    const turn = { generation: 1, facts: new Map(), now: START + 2 * HOUR, closed: NOTHING_CLOSED };
    const hour = { cluster: "default", windowStart: START };
    await computeLedger(store, hour, ledgerRules(rulesOf(scenario), ""), {
      ...turn,
      weights: createFrozenWeights(store),
    });
    server = await createReportsServer(store, START + 3 * HOUR, "currency: USD");
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  const podsSeen = async (as?: Viewer): Promise<unknown> => {
    const answer = await server.get("/api/v1/serving/explain?span=2026-03-02", as);
    const { hours } = servingExplanationSchema.parse(answer.json());
    return hours.map(({ pages, gpus }) => [pages.map(({ pod }) => pod), gpus.map(({ pod }) => pod)]);
  };

  it("is explained to a viewer by the pages and GPUs of the own pods alone", async () => {
    expect(await podsSeen()).toEqual([
      [
        ["llm-0", "llm-1"],
        ["llm-0", "llm-1"],
      ],
    ]);
    expect(await podsSeen(VISION)).toEqual([[["llm-1"], ["llm-1"]]]);
  });

  it.each(["/api/v1/serving/explain", "/api/v1/serving", "/api/v1/serving/focus", "/serving"])(
    "has no name of the other team's pods and models on %s",
    async (path) => {
      const { body } = await server.get(`${path}?span=2026-03-02&by=model`, VISION);
      expect(body).not.toMatch(/llm-0|model-of-chat/);
    },
  );
});
