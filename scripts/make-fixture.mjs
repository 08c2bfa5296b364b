// Makes the fixture of this version: a data folder and messages as this release writes them, with their contents. Run it
// at the end of a version, `npm run fixture`, and commit its output. fixtures.test.ts and upgrades.test.ts of
// test/full read all fixtures.
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import pino from "pino";
import { create } from "tar";
import { startSystem } from "../dist/services/system.js";
import {
  CLUSTER_TOPIC,
  DEAD_LETTER_TOPIC,
  INVENTORY_TOPIC,
  SAMPLES_TOPIC,
  WORKLOADS_TOPIC,
} from "../dist/domain/messages/topics.js";
import { openBus } from "../dist/runtime/bus/open.js";
import { parseConfig } from "../dist/runtime/config/load.js";
import { connectStore } from "../dist/runtime/store/connection.js";
import { startEmbeddedStore } from "../dist/runtime/store/embedded/supervisor.js";

const MESSAGES_KEPT = 40;
const TOPICS = [SAMPLES_TOPIC, WORKLOADS_TOPIC, INVENTORY_TOPIC, CLUSTER_TOPIC, DEAD_LETTER_TOPIC];
const STORE_PROGRAM = [process.execPath, "dist/runtime/store/embedded/main.js"];
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const out = join("test/fixtures/versions", version);
const data = mkdtempSync(join(tmpdir(), "gpu-ledger-fixture-"));
const settings = {
  cluster: "fixture",
  collector: { name: "fixture", interval: "1s", timeout: "1s" },
  bus: { retention: "52w", samplePartitions: 2 },
  store: { rawDays: 3650, fiveMinuteDays: 3650 },
  processor: { flushEvery: "1s" },
  server: { listen: "127.0.0.1:0" },
  demo: { gpus: 8, seed: 7, history: "1h" },
};
const config = parseConfig(JSON.stringify({ data, ...settings }), { source: "fixture", folder: data, env: {} });
const logger = pino({ level: "warn" }, pino.destination(2));

mkdirSync(out, { recursive: true });
writeFileSync(join(out, "config.json"), `${JSON.stringify(settings, null, 2)}\n`);
const system = await startSystem({ config, version, logger });
const bus = await openBus(config, logger);
await bus.send(SAMPLES_TOPIC, [{ key: "poison", value: Buffer.from("no scrape"), schemaVersion: 1 }]);
await bus.close();
await until(() => {
  const { demo, collector, processor } = system.status();
  const hasFacts = (collector?.kubernetes[0]?.objects["pods"] ?? 0) > 0 && (processor?.queue?.quotas.length ?? 0) > 0;
  const hasHistory = demo !== undefined && demo.history.total > 0 && demo.history.sent === demo.history.total;
  return (
    hasFacts &&
    hasHistory &&
    processor?.lagMessages === 0 &&
    processor.deadLetters > 0 &&
    processor.rollups.windows >= 2
  );
});
await system.stop();

const closed = await openBus(config, logger);
const messages = [];
for (const topic of TOPICS) {
  for (const { partition, low, high } of await closed.watermarks(topic)) {
    for (const message of await closed.read({ topic, partition }, low, Math.min(high - low, MESSAGES_KEPT))) {
      const { key, value, schemaVersion, headers } = message;
      messages.push({ topic, partition, key, schemaVersion, headers, value: Buffer.from(value).toString("base64") });
    }
  }
}
const positions = (await Promise.all(TOPICS.map((topic) => closed.watermarks(topic)))).flat();
await closed.close();
writeFileSync(join(out, "messages.jsonl"), messages.map((message) => `${JSON.stringify(message)}\n`).join(""));

const embedded = await startEmbeddedStore({ folder: join(data, "store"), program: STORE_PROGRAM, logger });
const reader = connectStore({ url: embedded.url, ...embedded.user, database: config.store.database }, config);
const tables = {};
for (const { owner, columns } of await reader.query(
  `SELECT table AS owner, groupArray(name) AS columns FROM (
    SELECT table, name FROM system.columns WHERE database = currentDatabase() AND table IN (
      SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
    ) ORDER BY table, position) GROUP BY table`,
)) {
  const content = `count() AS counted, sum(cityHash64(tuple(${columns.map((column) => `\`${column}\``).join(", ")}))) AS digest`;
  // Merged, so that duplicate rows are already one row.
  await reader.command(`OPTIMIZE TABLE ${owner} FINAL`);
  const [found] = await reader.query(`SELECT ${content} FROM ${owner}`);
  tables[owner] = { columns, ...found };
}
await reader.close();
await embedded.stop();
writeFileSync(join(out, "expected.json"), `${JSON.stringify({ positions, tables }, null, 2)}\n`);
await pipeline(
  create({ cwd: data, gzip: { level: 9 }, portable: true }, ["."]),
  createWriteStream(join(out, "data.tar.gz")),
);
rmSync(data, { recursive: true });
process.exit(0);

async function until(condition) {
  for (const end = Date.now() + 120_000; !condition();) {
    if (Date.now() > end) throw new Error("the system did not reach the expected state in 2 minutes");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
