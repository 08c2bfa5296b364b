import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { openWriteAheadLog, type WriteAheadLog } from "../../../../../collectors/prometheus/receive/write-ahead-log.ts";
import { temporaryFolder } from "../../../../support/folder.ts";
import { ENDED } from "../../../../support/remote-write.ts";
import { pushedPage, startReceiverWorld, T0 } from "../../../../support/receiver-world.ts";

const logger = pino({ level: "silent" });
const opened = (folder: string, maxBytes = 1e9): WriteAheadLog => openWriteAheadLog(folder, maxBytes, logger);
const write = (text: string) => ({ version: 1 as const, arrivedMillis: T0, body: Buffer.from(text) });

async function replayed(log: WriteAheadLog): Promise<string[]> {
  const texts: string[] = [];
  for await (const { body } of log.replay()) texts.push(body.toString());
  return texts;
}

describe("the write-ahead log", () => {
  test("returns all requests after a restart, oldest first", async () => {
    const folder = temporaryFolder("wal");
    const log = opened(folder);
    await Promise.all(["a", "b", ""].map((text) => log.append(write(text))));
    await log.append({ ...write("c"), version: 2 });
    await log.close();
    const again = opened(folder);
    await again.append(write("d"));
    expect(await replayed(again)).toEqual(["a", "b", "", "c"]);
    await again.close();
    expect(await replayed(opened(folder))).toEqual(["a", "b", "", "c", "d"]);
  });

  test("leaves out a request that was not completely written", async () => {
    const folder = temporaryFolder("wal");
    const log = opened(folder);
    await log.append(write("first"));
    await log.append(write("second"));
    await log.close();
    const path = join(folder, readdirSync(folder)[0]!);
    truncateSync(path, readFileSync(path).length - 2);
    expect(await replayed(opened(folder))).toEqual(["first"]);
    const bytes = readFileSync(path);
    bytes[20] = bytes[20]! ^ 1;
    writeFileSync(path, bytes);
    expect(await replayed(opened(folder))).toEqual([]);
    appendFileSync(path, Buffer.alloc(100, 0xff));
    expect(await replayed(opened(folder))).toEqual([]);
  });

  test("refuses requests beyond its size, and has room again without its old segments", async () => {
    const log = opened(temporaryFolder("wal"), 200);
    await log.append(write("x".repeat(150)));
    expect(() => log.append(write("x".repeat(150)))).toThrow("full");
    log.rotate(T0 + 60_000);
    await log.removeBefore(log.segment);
    await log.append(write("x".repeat(150)));
    await log.close();
  });
});

describe("a receiver that was killed", () => {
  test("sends the same messages again, and none is lost", async () => {
    const world = await startReceiverWorld();
    for (let tick = 0; tick < 3; tick++) {
      await world.send(pushedPage({ atMillis: T0 + tick * 30_000, util: tick }));
      await world.pass(30_000);
    }
    // The third scrape had no time to be complete. The process ends without a word: nothing is stopped or saved.
    await world.send(pushedPage({ atMillis: T0 + 90_000, util: 3 }).slice(0, 2));
    const before = world.bytes;
    const again = await startReceiverWorld({ folder: world.folder, nowMillis: T0 + 91_000 });
    await again.send(pushedPage({ atMillis: T0 + 90_000, util: 3 }).slice(2));
    await again.pass(10_000);
    await again.pass(10_000);
    expect(again.sent.map(({ scrapedAtMillis }) => (scrapedAtMillis - T0) / 30_000)).toEqual([0, 1, 2, 3]);
    expect(again.bytes.slice(0, before.length).map((bytes) => Buffer.from(bytes))).toEqual(
      before.map((bytes) => Buffer.from(bytes)),
    );
    expect([...again.sent.at(-1)!.values]).toEqual([0.03, 1_000 * 2 ** 20, 0.03, 1_000 * 2 ** 20]);
    await Promise.all([world.receiver.stop(), again.receiver.stop()]);
  });

  test("does not replace an old message by a part of it", async () => {
    const world = await startReceiverWorld();
    const [late, ...page] = pushedPage({ atMillis: T0 });
    await world.send(page);
    for (let pass = 0; pass < 30; pass++) await world.pass(10_000);
    await world.receiver.stop();
    expect(readdirSync(world.folder).filter((name) => name.endsWith(".wal"))).toEqual([]);
    const again = await startReceiverWorld({ folder: world.folder, nowMillis: T0 + 300_000 });
    await again.send([late!]);
    await again.pass(20_000);
    expect(again.sent).toEqual([]);
    expect(again.dropped).toEqual({ "too-late": 1 });
    await again.receiver.stop();
  });

  test("knows the node of a target that is down", async () => {
    const world = await startReceiverWorld();
    await world.send(pushedPage({ atMillis: T0 }));
    for (let pass = 0; pass < 30; pass++) await world.pass(10_000);
    await world.receiver.stop();
    const atMillis = T0 + 330_000;
    const again = await startReceiverWorld({ folder: world.folder, nowMillis: atMillis });
    const down = pushedPage({ atMillis, up: 0 }).map(({ labels, samples }) => ({
      labels,
      samples: labels["__name__"] === "up" ? samples : [[atMillis, ENDED] as const],
    }));
    await again.send(down.slice(-1));
    await again.pass(11_000);
    expect(again.sent).toMatchObject([{ node: "gpu-a", failure: { reason: "refused" } }]);
    await again.receiver.stop();
  });
});
