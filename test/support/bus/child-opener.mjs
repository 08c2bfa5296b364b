// Opens a log repeatedly, while another instance of this process or another process writes to it. Prints nothing, and ends after its rounds.
// Arguments: the build's module of the storage, the log's folder, the rounds, "writing" if another instance of this process writes.
import { setTimeout as delay } from "node:timers/promises";

const [module, folder, rounds, writing] = process.argv.slice(2);
const { openStorage } = await import(module);
const writer = writing === undefined ? undefined : await openStorage(folder);
for (let round = 0; round < Number(rounds); round += 1) {
  const written = writer?.write(() => void writer.meta.put("usedBytes", round));
  if (writer !== undefined) await delay(round % 3);
  const opened = await openStorage(folder);
  await written;
  await opened.close();
}
await writer?.close();
