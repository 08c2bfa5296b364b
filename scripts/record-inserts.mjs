// Records the inserts of this version's processors for the fixture's messages, as inserts.jsonl beside the fixture.
// Later releases insert them into their own tables, and make the same rows of the same messages.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { DEAD_LETTER_TOPIC } from "../dist/domain/messages/topics.js";
import { startFacts } from "../dist/processors/ingest/facts.js";
import { startProcessor } from "../dist/processors/ingest/processor.js";
import { openBus } from "../dist/runtime/bus/open.js";
import { topicDeclarations } from "../dist/runtime/bus/topics.js";
import { parseConfig } from "../dist/runtime/config/load.js";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const folder = join("test/fixtures/versions", version);
const out = join(folder, "inserts.jsonl");
const data = mkdtempSync(join(tmpdir(), "gpu-ledger-inserts-"));
const settings = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
const config = parseConfig(JSON.stringify({ ...settings, data }), { source: "fixture", folder: data, env: {} });
const logger = pino({ level: "warn" }, pino.destination(2));
const record = (insert) => appendFileSync(out, `${JSON.stringify(insert)}\n`);

/** Records the inserts of a store, and stores no rows. */
const recorder = {
  async insertRows(table, columns, body, { format = "RowBinary" } = {}) {
    const bytes = Buffer.from(body).toString("base64");
    record({ table, columns, ...(format === "Native" ? { native: bytes } : { rowBinary: bytes }) });
  },
  async insertJson(table, rows) {
    record({ table, rows });
  },
};
const fail = (reason) => {
  throw new Error(`the record is not complete: ${reason}`);
};
let sent = 0;
let handled = 0;
const events = {
  onFresh: () => {},
  onTraced: () => {},
  onDropped: () => {},
  onDeadLetter: () => (handled += 1),
  onFutureSchema: () => fail("a schema of the future"),
  onJump: () => fail("a jump"),
  onPassedOver: () => fail("a fact passed over"),
  onRetry: (error) => fail(error.message),
  onFatal: (error) => fail(error.message),
};

writeFileSync(out, "");
const bus = await openBus(config, logger);
await bus.declare(topicDeclarations(config.bus));
for (const line of readFileSync(join(folder, "messages.jsonl"), "utf8").trim().split("\n")) {
  const { topic, key, schemaVersion, headers, value } = JSON.parse(line);
  if (topic === DEAD_LETTER_TOPIC) continue;
  await bus.send(topic, [{ key, schemaVersion, headers, value: Buffer.from(value, "base64") }]);
  sent += 1;
}
const options = { bus, store: recorder, flushMillis: 500, flushRows: 1_000_000, now: Date.now };
const intakes = [
  await startFacts({ ...options, events: { ...events, onStored: (facts) => (handled += facts.length) } }),
  await startProcessor({ ...options, events: { ...events, onStored: ({ scrapes }) => (handled += scrapes) } }),
];
while (handled < sent) await new Promise((done) => setTimeout(done, 100));
for (const intake of intakes) await intake.stop();
await bus.close();
rmSync(data, { recursive: true });
