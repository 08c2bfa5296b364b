import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import type { PortConfig } from "../../runtime/http/port.ts";
import { startStatusServer, type StatusServer } from "../../runtime/http/status-server.ts";

const PROBES = 30;
let server: StatusServer | undefined;
let registry: Registry;
const attackers = new Set<Socket>();
afterEach(async () => {
  for (const socket of attackers) socket.destroy();
  attackers.clear();
  await server?.stop();
});

async function listening(given: Partial<PortConfig> = {}): Promise<number> {
  registry = new Registry();
  const views = {
    status: () => Promise.resolve({}),
    metrics: () => registry.metrics(),
    notReady: () => [],
    guard: { guardRoutes: () => {}, isOperator: () => Promise.resolve(true) },
    registry,
  };
  server = await startStatusServer({ listen: "127.0.0.1:0", ...given }, views, pino({ level: "silent" }), (routes) => {
    routes.get("/slow", () => new Promise(() => {}));
  });
  return Number(new URL(server.url).port);
}

/** Opens a connection from an address of this machine, sends a text, and opens it again whenever the server closes it. */
function attack(port: number, localAddress: string, text: string): void {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  attackers.add(socket);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    if (attackers.delete(socket)) setTimeout(() => attack(port, localAddress, text), 1_000);
  });
  socket.resume().write(text);
}

/** Asks for the health as a kubelet does: from another address, by a new connection each time. Returns the number of answers. */
async function probed(port: number): Promise<number> {
  let answers = 0;
  for (let probe = 0; probe < PROBES; probe += 1) {
    const options = {
      port,
      host: "127.0.0.1",
      localAddress: "127.0.2.1",
      path: "/healthz",
      agent: false,
      timeout: 1_000,
    };
    const answer = await once(get(options), "response").then(
      ([response]) => (response as IncomingMessage).resume().statusCode,
      () => undefined,
    );
    if (answer === 200) answers += 1;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return answers;
}

const ended = async (): Promise<ReadonlyMap<string, number>> => {
  const found = await registry.getSingleMetric("gpu_ledger_port_connections_ended_total")!.get();
  return new Map(found.values.map(({ labels, value }) => [String(labels["limit"]), value]));
};

const REQUEST = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
it.each([
  ["from one address that keep their connections", 1, REQUEST, "address"],
  ["from one address that send half a request", 1, "GET / HTTP/1.1\r\n", "address"],
  ["from 200 addresses that keep their connections", 200, REQUEST, "port"],
  ["from 200 addresses whose answers never end", 200, REQUEST.replace("healthz", "slow"), "port"],
] as const)("every probe is answered beside 3,000 connections %s", async (_, addresses, text, limit) => {
  const port = await listening();
  for (let number = 0; number < 3_000; number += 1) attack(port, `127.0.1.${(number % addresses) + 1}`, text);
  expect(await probed(port)).toBe(PROBES);
  expect((await ended()).get(limit)).toBeGreaterThan(900);
});

it("500 senders behind one address keep their connections", async () => {
  const port = await listening();
  const sockets = Array.from({ length: 500 }, () => connect(port, "127.0.0.1"));
  for (const socket of sockets) attackers.add(socket.resume());
  for (let round = 0; round < 3; round += 1)
    await Promise.all(sockets.map((socket) => (socket.write(REQUEST), once(socket, "data"))));
  expect(sockets.filter(({ closed }) => closed)).toEqual([]);
  expect([...(await ended()).values()]).toEqual([0, 0]);
});

it("the limit of an address is configured, ends the connection that has waited the longest, and spares proxies", async () => {
  const opened = async (port: number, count: number): Promise<readonly Socket[]> => {
    const sockets: Socket[] = [];
    for (let number = 0; number < count; number += 1) {
      const socket = connect(port, "127.0.0.1");
      attackers.add(socket);
      socket.on("error", () => undefined);
      socket.write(REQUEST);
      await once(socket, "data");
      sockets.push(socket.resume());
    }
    return sockets;
  };
  const limited = await opened(await listening({ connectionsPerAddress: 5 }), 5);
  limited[0]!.write(REQUEST);
  await once(limited[0]!, "data");
  const [last] = await opened(Number(new URL(server!.url).port), 1);
  await expect.poll(() => limited.map(({ closed }) => closed)).toEqual([false, true, false, false, false]);
  expect(last!.closed).toBe(false);
  await server!.stop();
  const proxied = await opened(await listening({ connectionsPerAddress: 5, trustProxy: ["127.0.0.0/8"] }), 9);
  expect(proxied.filter(({ closed }) => closed)).toEqual([]);
});
