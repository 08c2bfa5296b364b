import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Bus, ReceivedMessage } from "../../runtime/bus/bus.ts";
import { systemClock } from "../../runtime/clock.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import type { EmbeddedBusOptions } from "../../runtime/bus/embedded/embedded-bus.ts";
import { openStorage } from "../../runtime/bus/embedded/storage.ts";
import { spawnMember } from "../support/bus/child-member.ts";
import { writeAndDie } from "../support/bus/child-writer.ts";
import { collector, newTopic, numbered, textMessage, textOf } from "../support/bus/messages.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const LONG = { timeout: 90_000, interval: 50 };

describe("the embedded log", () => {
  const cleanups: (() => Promise<void> | void)[] = [];

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  });

  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-log-"));
    cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  async function openBus(folder: string, more: Partial<EmbeddedBusOptions> = {}): Promise<Bus> {
    const bus = await openEmbeddedBus({ folder, clock: systemClock, logger: pino({ level: "silent" }), ...more });
    cleanups.push(() => bus.close());
    return bus;
  }

  async function readAll(bus: Bus, topic: string): Promise<ReceivedMessage[]> {
    const seen = collector();
    const follower = await bus.follow(topic, seen.onMessages);
    await follower.caughtUp;
    await follower.close();
    return seen.messages;
  }

  /** The arguments of a process that opens a folder repeatedly. */
  function openerOf(folder: string, rounds: number, ...more: readonly string[]): string[] {
    const built = pathToFileURL(resolve("dist/runtime/bus/embedded/storage.js")).href;
    return [resolve("test/support/bus/child-opener.mjs"), built, folder, String(rounds), ...more];
  }

  it("has every acknowledged message once and in order, when its writers are killed at any time", async () => {
    const folder = newFolder();
    const bus = await openBus(folder);
    const topic = newTopic();
    await bus.declare([topic]);
    const live = collector();
    await bus.consume({ group: "live", topics: [topic.name], handler: live.handler });

    const runs = new Map<string, Map<number, number>>();
    for (let round = 0; round < 10; round += 1) {
      const names = [`r${round}a`, `r${round}b`];
      const started = names.map(async (run) => {
        const options = { bus: { make: "embedded", folder }, topic: topic.name, run, keys: 8 } as const;
        runs.set(run, await writeAndDie(options, Math.random() * 250));
      });
      await Promise.all(started);
    }

    // If a writer is killed between its commit and the notification of others, its messages are invisible until the next transaction of any writer
    // (LMDB's `mti_txnid`, which the robust mutex repairs).
    await bus.declare([newTopic()]);
    const messages = await readAll(bus, topic.name);
    const stored = new Map<string, number[]>();
    for (const message of messages) {
      const [run, key, number] = textOf(message).trim().split(":");
      expect(message.intact).toBe(true);
      stored.set(`${run}:${key}`, [...(stored.get(`${run}:${key}`) ?? []), Number(number)]);
    }
    let acknowledged = 0;
    for (const [run, lastOfKey] of runs) {
      for (const [key, last] of lastOfKey) {
        acknowledged += last + 1;
        const numbers = stored.get(`${run}:${key}`) ?? [];
        expect(numbers).toEqual(numbers.map((_, index) => index));
        expect(numbers.length).toBeGreaterThan(last);
      }
    }
    expect(acknowledged).toBeGreaterThan(500);
    // A reader in another process saw the same messages meanwhile, each once.
    await vi.waitFor(() => expect(live.messages).toHaveLength(messages.length), LONG);
    const placeOf = (message: ReceivedMessage) => `${message.partition}@${message.offset}`;
    expect(new Set(live.messages.map(placeOf))).toEqual(new Set(messages.map(placeOf)));
  });

  it("loses nothing when members in other processes are killed and replaced", async () => {
    const folder = newFolder();
    const bus = await openBus(folder);
    const topic = newTopic({ partitions: 8 });
    await bus.declare([topic]);
    const spawn = () =>
      spawnMember({ bus: { make: "embedded", folder }, group: "g", topic: topic.name, commitEvery: 7 });
    let members = [await spawn(), await spawn()];
    const all = [...members];

    for (let round = 0; round < 3; round += 1) {
      await bus.send(
        topic.name,
        numbered(400, 40).map(({ key, value }) => textMessage(key, `${round}/${String(value)}`)),
      );
      await members[0]?.kill();
      members = [...members.slice(1), await spawn()];
      all.push(...members.slice(-1));
    }
    await vi.waitFor(() => expect(new Set(all.flatMap((m) => m.received())).size).toBe(1_200), LONG);
    await Promise.all(members.map((member) => member.kill()));
  });

  it("continues at the last commit when the only member is killed and comes back in another process", async () => {
    const folder = newFolder();
    const bus = await openBus(folder);
    const topic = newTopic({ partitions: 1 });
    await bus.declare([topic]);
    await bus.send(topic.name, numbered(100, 1));
    const options = { bus: { make: "embedded", folder }, group: "g", topic: topic.name, commitEvery: 10 } as const;
    const first = await spawnMember(options);
    await vi.waitFor(() => expect(first.commits()).toBe(10), LONG);
    expect(first.received()).toHaveLength(100);
    await first.kill();
    await bus.send(topic.name, [textMessage("key-0", "last")]);
    const second = await spawnMember(options);
    await vi.waitFor(() => expect(second.received()).toEqual(["last"]), LONG);
    await second.kill();
  });

  it("stores messages that are sent at the same time in few transactions", async () => {
    const folder = newFolder();
    const bus = await openBus(folder);
    const topic = newTopic();
    await bus.declare([topic]);
    const storage = await openStorage(folder);
    cleanups.push(() => storage.close());
    const before = storage.version();
    await Promise.all(numbered(500, 50).map((message) => bus.send(topic.name, [message])));
    expect((await readAll(bus, topic.name)).length).toBe(500);
    expect(storage.version() - before).toBeLessThan(10);
  });

  it("keeps at most a partition's retention bytes, and counts the skipped messages of a reading group", async () => {
    const bus = await openBus(newFolder(), { maintenanceMillis: 50 });
    const topic = newTopic({ partitions: 1, retentionBytes: 100_000 });
    await bus.declare([topic]);
    const jumps: unknown[] = [];
    let release: () => void = () => undefined;
    const handled: number[] = [];
    await bus.consume({
      group: "slow",
      topics: [topic.name],
      handler: {
        async onMessages(messages) {
          handled.push(...messages.map((message) => message.offset));
          if (handled.length === 1) await new Promise<void>((resolve) => (release = resolve));
        },
        onJump: (jump) => void jumps.push(jump),
      },
    });
    await bus.send(topic.name, [textMessage("k", "first")]);
    await vi.waitFor(() => expect(handled).toEqual([0]), LONG);
    for (let n = 0; n < 20; n += 1) await bus.send(topic.name, [textMessage("k", "x".repeat(20_000))]);
    await vi.waitFor(async () => expect((await bus.watermarks(topic.name))[0]?.low).toBeGreaterThan(10), LONG);
    const low = (await bus.watermarks(topic.name))[0]?.low ?? 0;
    release();
    await vi.waitFor(() => expect(handled.at(-1)).toBe(20), LONG);
    expect(jumps).toEqual([{ topic: topic.name, partition: 0, from: 1, to: low }]);
    expect(handled).toEqual([0, ...Array.from({ length: 21 - low }, (_, n) => low + n)]);
  });

  it("orders messages by their sending and not by a clock that goes back, and retention still removes a message with a future time", async () => {
    let nowMillis = Date.now();
    const bus = await openBus(newFolder(), {
      maintenanceMillis: 50,
      clock: { ...systemClock, nowMillis: () => nowMillis },
    });
    const topic = newTopic({ partitions: 1, retentionMillis: HOUR });
    await bus.declare([topic]);
    await bus.send(topic.name, [textMessage("k", "one")]);
    nowMillis += 48 * HOUR;
    // Offset 1 gets a time two days ahead, and retention removes offset 0.
    await bus.send(topic.name, [textMessage("k", "from the future")]);
    nowMillis -= 49 * HOUR;
    await bus.send(topic.name, [textMessage("k", "three"), textMessage("k", "four")]);
    const texts = (await readAll(bus, topic.name)).map(textOf);
    expect(texts.slice(-3)).toEqual(["from the future", "three", "four"]);

    nowMillis += 2 * HOUR;
    await vi.waitFor(async () => expect((await bus.watermarks(topic.name))[0]?.low).toBe(4), LONG);
  });

  it("refuses messages over its limit with disk-full, and takes messages again when retention has freed space", async () => {
    let nowMillis = Date.now();
    const bus = await openBus(newFolder(), {
      maxBytes: 200_000,
      maintenanceMillis: 50,
      clock: { ...systemClock, nowMillis: () => nowMillis },
    });
    const topic = newTopic({ partitions: 1 });
    await bus.declare([topic]);
    const send = () => bus.send(topic.name, [textMessage("k", "x".repeat(10_000))]);
    const fill = async () => {
      for (let n = 0; n < 100; n += 1) await send();
    };
    await expect(fill()).rejects.toMatchObject({ name: "BusError", code: "disk-full", retriable: true });
    const { high } = (await bus.watermarks(topic.name))[0] ?? { high: 0 };
    expect(high).toBeGreaterThan(10);
    nowMillis += 2 * HOUR;
    await vi.waitFor(() => send(), LONG);
  });

  it("survives a full disk: the sender gets disk-full and nothing is lost", async (context) => {
    const folder = newFolder();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], { stdio: "ignore" });
    } catch {
      context.skip("mounting a small disk needs root: run the tests as root on Linux to see this one");
    }
    cleanups.push(() => void execFileSync("umount", [folder]));
    const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
    cleanups.push(() => silent.mockRestore());
    const bus = await openBus(join(folder, "log"));
    const topic = newTopic({ partitions: 1 });
    await bus.declare([topic]);
    await bus.send(topic.name, [textMessage("k", "first")]);
    const filler = join(folder, "filler");
    writeFileSync(filler, Buffer.alloc(statfsSync(folder).bavail * statfsSync(folder).bsize - 400_000));

    let acknowledged = 1;
    const fill = async () => {
      for (;;) {
        await bus.send(topic.name, [textMessage("k", "y".repeat(50_000))]);
        acknowledged += 1;
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: "disk-full", retriable: true });
    rmSync(filler);
    await bus.send(topic.name, [textMessage("k", "after")]);
    const messages = await readAll(bus, topic.name);
    expect(messages).toHaveLength(acknowledged + 1);
    expect(messages.at(-1)).toMatchObject({ offset: acknowledged });
  });

  it("can be opened while another instance of the process writes to it", async () => {
    // A process that waits for itself does not run its own timers.
    const options = { timeout: 30_000, killSignal: "SIGKILL" } as const;
    const { status, signal } = spawnSync(process.execPath, openerOf(newFolder(), 100, "writing"), options);
    expect({ status, signal }).toEqual({ status: 0, signal: null });
  });

  it("loses no transaction that another process commits while it is opened", async () => {
    const folder = newFolder();
    const storage = await openStorage(folder);
    cleanups.push(() => storage.close());
    const opener = spawn(process.execPath, openerOf(folder, 1_000), { stdio: "inherit" });
    let ended: number | null | undefined;
    opener.once("exit", (status) => (ended = status));
    let transactions = 0;
    const before = storage.version();
    while (ended === undefined) {
      await storage.write(() => undefined);
      transactions += 1;
    }
    expect(ended).toBe(0);
    expect(storage.version() - before).toBe(transactions);
    expect(transactions).toBeGreaterThan(100);
  });

  it("refuses a folder of a later release", async () => {
    const folder = newFolder();
    const storage = await openStorage(folder);
    await storage.write(() => void storage.meta.put("format", 99));
    await storage.close();
    await expect(openBus(folder)).rejects.toMatchObject({ code: "denied", retriable: false });
  });
});
