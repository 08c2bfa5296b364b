import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiConnection, type ApiConnection } from "../../collectors/kubernetes/api/connection.ts";
import { systemClock } from "../../runtime/clock.ts";

const LISTEN = `
  const server = require("node:net").createServer();
  server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => console.log(server.address().port));`;

describe("a server that accepts no connections", () => {
  const server = spawn(process.execPath, ["-e", LISTEN], { stdio: ["ignore", "pipe", "inherit"] });
  const waiting: Socket[] = [];
  let api: ApiConnection;
  beforeAll(async () => {
    const [port] = (await once(server.stdout, "data")) as [Buffer];
    server.kill("SIGSTOP");
    // The kernel accepts a few connections for the stopped process. The next ones wait.
    for (let count = 0; count < 10; count++) waiting.push(connect(Number(port), "127.0.0.1").on("error", () => {}));
    const access = { server: `http://127.0.0.1:${Number(port)}`, headers: {}, tls: {} };
    api = createApiConnection(() => Promise.resolve(access), systemClock);
  });
  afterAll(() => {
    api.close();
    for (const socket of waiting) socket.destroy();
    server.kill("SIGKILL");
  });

  it("is silent for a request", async () => {
    expect(waiting.some(({ connecting }) => connecting)).toBe(true);
    const request = { path: "/version", silenceMillis: 200, signal: new AbortController().signal };
    await expect(api.json(request)).rejects.toMatchObject({ code: "silent" });
  });

  it("does not keep a request that is aborted", async () => {
    const stopping = new AbortController();
    const answer = api.json({ path: "/version", silenceMillis: 600_000, signal: stopping.signal });
    stopping.abort(new Error("stopped"));
    await expect(answer).rejects.toThrow("stopped");
  });
});
