import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join, relative } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { ask, run, startTestStore } from "../support/embedded-store.ts";
import type { RawAnswer, TestStore } from "../support/embedded-store.ts";

const secret = "the-secret-of-this-machine";

let store: TestStore;
let outside: string;
let canary: Server;
let canaryConnections = 0;

beforeAll(async () => {
  outside = await mkdtemp(join(tmpdir(), "gpu-ledger-outside-"));
  await writeFile(join(outside, "secret.txt"), secret);
  canary = createServer().on("connection", () => (canaryConnections += 1));
  await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
  store = await startTestStore();
  await run(store, "CREATE DATABASE ledger");
  await run(
    store,
    "CREATE TABLE ledger.charges (team String, cost Decimal(18, 4), day Date) ENGINE = MergeTree ORDER BY day",
  );
  await run(store, "INSERT INTO ledger.charges VALUES ('red', 1.5, '2026-03-01'), ('blue', 2.25, '2026-03-02')");
});

afterAll(async () => {
  await store?.stop();
  canary?.close();
  await rm(outside, { recursive: true, force: true });
});

/** Inserts the canary's address and the secret's path where a statement has their placeholders. */
function fill(sql: string): string {
  const { port } = canary.address() as AddressInfo;
  return sql
    .replaceAll("SECRET", join(outside, "secret.txt"))
    .replaceAll("RELATIVE", relative(process.cwd(), join(outside, "secret.txt")))
    .replaceAll("OUTSIDE", outside)
    .replaceAll("CANARY", `127.0.0.1:${port}`);
}

function expectNothingGotOut(answer: RawAnswer): void {
  expect(answer.text).not.toContain(secret);
  expect(readdirSync(outside)).toEqual(["secret.txt"]);
  expect(canaryConnections).toBe(0);
}

describe("the program's own user", () => {
  it.each([
    "SELECT * FROM file('SECRET', 'LineAsString')",
    "SELECT * FROM url('http://CANARY/', 'CSV', 'a String')",
    "SELECT * FROM s3('http://CANARY/bucket/x', 'CSV', 'a String')",
    "SELECT * FROM remote('CANARY', system.one)",
    "INSERT INTO FUNCTION file('OUTSIDE/out', 'CSV') SELECT 1",
    "SELECT 1 INTO OUTFILE 'OUTSIDE/out'",
    "INSERT INTO ledger.charges FROM INFILE 'SECRET' FORMAT LineAsString",
    "CREATE TABLE ledger.f (a String) ENGINE = File(CSV, 'SECRET')",
    "CREATE TABLE ledger.f (a String) ENGINE = URL('http://CANARY/', CSV)",
    "CREATE DATABASE f ENGINE = Filesystem('OUTSIDE')",
    "CREATE FUNCTION f AS x -> x",
    "BACKUP DATABASE ledger TO File('OUTSIDE/out')",
    "SYSTEM SHUTDOWN",
  ])("cannot leave the database by %s", async (sql) => {
    const answer = await ask(store, { user: store.user, body: fill(sql) });
    expect(answer.status).not.toBe(200);
    expectNothingGotOut(answer);
  });

  it("backs up into the store's own folder", async () => {
    expect(await run(store, "BACKUP DATABASE ledger TO File('first')")).toContain("BACKUP_CREATED");
    expect(existsSync(join(store.folder, "backups", "first"))).toBe(true);
  });
});

it("the store listens on the loopback address alone", async () => {
  const { port } = new URL(store.url);
  const others = Object.values(networkInterfaces())
    .flat()
    .filter((one) => one !== undefined && !one.internal && one.family === "IPv4")
    .map((one) => one?.address);
  for (const address of [...others, "[::1]"]) {
    await expect(ask({ url: `http://${address}:${port}` }, { method: "GET", path: "/ping" })).rejects.toThrow(
      /ECONNREFUSED|EADDRNOTAVAIL/,
    );
  }
  expect((await ask(store, { method: "GET", path: "/ping" })).status).toBe(200);
});
