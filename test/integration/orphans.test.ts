import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseConfig } from "../../runtime/config/load.ts";
import type { ChildOrder } from "../../services/child-messages.ts";
import { temporaryFolder } from "../support/folder.ts";

const PROGRAM = resolve("dist/services/child.js");

/** A store that accepts connections and never answers. */
const store = createServer();
const connections: Socket[] = [];
beforeAll(async () => {
  store.on("connection", (socket) => connections.push(socket.on("error", () => {})));
  await once(store.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  for (const socket of connections) socket.destroy();
  store.close();
});

it("a processor that waits for its store exits when its parent is gone", async () => {
  const folder = temporaryFolder("orphans");
  const { port } = store.address() as AddressInfo;
  const order: ChildOrder = {
    role: "processor",
    config: parseConfig(`data: ${folder}`, { source: "test", folder, env: {} }),
    store: { url: `http://127.0.0.1:${port}`, username: "default", password: "", database: "none" },
    secret: "test",
  };
  const child = fork(PROGRAM, [], { stdio: "ignore" });
  child.send(order);
  await expect.poll(() => connections.length).toBeGreaterThan(0);
  const exit = once(child, "exit");
  child.disconnect();
  expect(await exit).toEqual([1, null]);
});
