// Puts numbered messages into a spool whose bus does not answer, and prints each durable one; see bus-spool.test.ts.
import { writeSync } from "node:fs";
import { pino } from "pino";
import { BusError } from "../../../dist/runtime/bus/bus.js";
import { createSpoolingSender } from "../../../dist/runtime/bus/spool.js";

const { folder, from } = /** @type {{ folder: string, from: number }} */ (JSON.parse(process.argv[2] ?? ""));
const sender = createSpoolingSender({
  bus: { send: () => Promise.reject(new BusError("unavailable", "down", { retriable: true })) },
  topic: "down",
  folder,
  maxBytes: 1_000_000_000,
  logger: pino({ level: "fatal" }),
});
for (let number = from; ; number += 1) {
  await sender.send([{ key: "k", value: Buffer.from(String(number)), schemaVersion: 1 }]);
  writeSync(1, `${number}\n`);
}
