import { expect, test } from "vitest";
import { checkLedger } from "../../cli/check/ledger.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { settle } from "../../processors/ledger/term/settle.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { withLedger } from "../../services/begun-ledger.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { createCommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { storeScenario } from "../support/play.ts";
import { scenarioWith } from "../support/played.ts";

const START = Date.UTC(2026, 2, 31, 22);
const NOW = START + 2 * HOUR_MILLIS;

/** An hour of four GPUs. Three have a pod each, of teams that people read as "platform", "vision" and "vision". */
const fleet = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-03-31T23:00:00Z" },
  nodes: [{ name: "gpu-a", model: "NVIDIA-A100", gpus: 4, instanceType: "ours", until: "2026-03-31T23:00:00Z" }],
  namespaces: {
    infra: { labels: { team: "Platform" } },
    vision: { labels: { team: "vision" } },
    other: { labels: { team: "v\u0456sion" } },
  },
  pods: ["infra", "vision", "other"].map((namespace, device) => ({
    name: `${namespace}-0`,
    namespace,
    node: "gpu-a",
    holds: { gpus: 1 },
    devices: [device],
    activity: 1,
  })),
});

async function charge(store: StoreClient, config: Config, generation: number): Promise<Record<string, number>> {
  const { rules } = rulesOfConfig(config);
  await settle(store, [{ cluster: "default", windowStart: START }], rules, { generation, now: NOW });
  const rows = await store.query<{ team: string; hours: string }>(
    "SELECT team, toString(sum(gpu_hours)) AS hours FROM charges_published GROUP BY team ORDER BY team",
  );
  return Object.fromEntries(rows.map(({ team, hours }) => [team, Number(hours)]));
}

test("a team that reads like a reserved name keeps its charges in an older ledger, gets none in a new one, and `check` has it", async () => {
  const folder = createCommandFolder();
  const { url, user } = sharedStore();
  const configOf = (database: string): Config => {
    const clickhouse = { url, ...user };
    const path = folder.write(`${database}.yaml`, { store: { kind: "clickhouse", database, clickhouse } });
    return loadConfig(path, {}).config;
  };
  const newer = await createTestDatabase("teams_new");
  const older = await createTestDatabase("teams_old");
  await storeScenario(newer, fleet);
  await storeScenario(older, fleet);
  const others = { platform: 1, vision: 1, vіsion: 1 };

  const ofNew = await withLedger(configOf("teams_new"), newer);
  expect(await charge(newer, ofNew, 0)).toEqual({ ...others, unowned: 1 });
  expect(await charge(newer, await withLedger(configOf("teams_new"), newer), 1)).toEqual({ ...others, unowned: 1 });

  // An earlier release accepted every spelling but the exact one.
  const earlier = { ...configOf("teams_old"), chargedTeams: ["Platform"] };
  expect(await charge(older, earlier, 0)).toEqual({ ...others, Platform: 1 });
  expect(await charge(older, await withLedger(configOf("teams_old"), older), 1)).toEqual({ ...others, Platform: 1 });

  const found = [];
  for await (const { what, warns, answer } of checkLedger(configOf("teams_old"), NOW))
    if (what.startsWith("teams")) found.push({ warns, answer });
  expect(found).toEqual([
    {
      warns: true,
      answer: "Platform can be read as platform, and has charges apart from it: change the label or the rule",
    },
    {
      warns: true,
      answer:
        "v\u0456sion (v U+456 sion) can be read as vision, and has charges apart from it: change the label or the rule",
    },
  ]);
  await newer.close();
  await older.close();
  await folder.dispose();
});
