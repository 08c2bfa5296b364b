// Sends numbered messages forever and prints the number of each acknowledged one; see child-writer.ts.
import { writeSync } from "node:fs";
import { openChildBus } from "./child-bus.mjs";

const {
  bus: make,
  topic,
  run,
  keys,
} = /** @type {import("./child-writer.ts").ChildWriterOptions} */ (JSON.parse(process.argv[2] ?? ""));
const bus = await openChildBus(make);
for (let number = 0; ; number += keys) {
  // A number of senders at once, so that they share transactions; each key's numbers go up one by one.
  const sends = Array.from({ length: keys }, async (_, key) => {
    const value = Buffer.from(`${run}:${key}:${number / keys}`.padEnd(3000, " "));
    await bus.send(topic, [{ key: `${run}-${key}`, value, schemaVersion: 1 }]);
    writeSync(1, `${key}:${number / keys}\n`);
  });
  await Promise.all(sends);
}
