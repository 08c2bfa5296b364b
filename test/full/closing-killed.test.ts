import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { dropAbandonedCloses } from "../../processors/ledger/closing/abandoned.ts";
import { readClosed } from "../../processors/ledger/closed/closed.ts";
import { verifyClosings } from "../../processors/ledger/closing/verify.ts";
import { settle } from "../../processors/ledger/term/settle.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";
import { storeScenario } from "../support/play.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

const START = Date.UTC(2026, 2, 31, 20);
const HOURS = 4;
const KILLS = 25;

const fleet = scenarioWith({
  period: { start: "2026-03-31T20:00:00Z", end: "2026-04-01T00:00:00Z" },
  nodes: [{ name: "gpu-a", model: "A100", gpus: 4, instanceType: "p5", until: "2026-04-01T00:00:00Z" }],
  namespaces: { vision: { labels: { team: "vision" } } },
  pods: [{ name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
});

describe("a close that is killed", () => {
  let embedded: TestStore;
  let folder: CommandFolder;
  let store: StoreClient;
  let file: string;

  beforeAll(async () => {
    embedded = await startTestStore();
    folder = createCommandFolder();
    const { username, password } = embedded.user;
    file = folder.write("gpu-ledger.yaml", {
      prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
      policies: [
        {
          name: "shared",
          payers: { unallocated: "spread" },
          spread: { over: "cluster", by: "cost", window: "period" },
        },
      ],
      store: { kind: "clickhouse", database: "killed", clickhouse: { url: embedded.url, username, password } },
    });
    store = await createTestDatabase("killed", embedded);
    await storeScenario(store, fleet);
    const { rules } = rulesOfConfig(loadConfig(file, {}).config);
    const windows = Array.from({ length: HOURS }, (_, hour) => ({
      cluster: "default",
      windowStart: START + hour * HOUR_MILLIS,
    }));
    await settle(store, windows, rules, { generation: 0, now: START + 6 * HOUR_MILLIS });
  });
  afterAll(async () => {
    await store.close();
    await folder.dispose();
    await embedded.stop();
  });

  const lines = (): Promise<unknown> =>
    store.query(
      "SELECT team, payer, toString(count()) AS lines, toString(sum(effective_cost)) AS cost FROM charges_published GROUP BY team, payer ORDER BY team, payer",
    );

  it("has closed the whole month or nothing, for any moment of the kill", async () => {
    const open = await lines();
    const started = performance.now();
    const whole = await folder.run(["close", "2026-03", "--dry-run", "--config", file]);
    expect(whole).toMatchObject({ code: 0 });
    const longest = (performance.now() - started) * 1.3;
    let kills = 0;
    for (; kills < KILLS; kills += 1) {
      // The server can end the last statement of a killed close later, so the marker is read after the lines.
      const seen = await lines();
      if ((await readClosed(store)).periods.length > 0) break;
      expect(seen).toEqual(open);
      const close = folder.start(["close", "2026-03", "--why", "the month is over", "--config", file]);
      // Starting early, because a machine that gets less busy closes in half the time.
      await sleep(longest * (0.2 + (0.8 * (kills + 1)) / KILLS));
      close.child.kill("SIGKILL");
      await close.ended;
    }
    expect(kills).toBeGreaterThan(1);
    if ((await readClosed(store)).periods.length === 0)
      await folder.run(["close", "2026-03", "--why", "the month is over", "--config", file]);
    const verified = await verifyClosings(store, undefined);
    expect(verified.map(({ period, deviations }) => [period, deviations])).toEqual([["2026-03", []]]);
    const closed = await lines();
    // The remains of the killed closes are removed a day later, and nothing that counts with them.
    await dropAbandonedCloses(store, Date.now() + 25 * HOUR_MILLIS);
    expect(await store.query("SELECT toString(uniqExact(close_id)) AS closes FROM closed_runs")).toEqual([
      { closes: "1" },
    ]);
    expect(await lines()).toEqual(closed);
    expect(await verifyClosings(store, undefined)).toEqual(verified);
  });
});
