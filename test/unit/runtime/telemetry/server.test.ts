import pino from "pino";
import { afterEach, expect, it } from "vitest";
import { parseConfig } from "../../../../runtime/config/load.ts";
import { startStatusServer, type StatusServer } from "../../../../runtime/telemetry/server.ts";

const VIEWS = {
  status: () => Promise.resolve({}),
  metrics: () => Promise.resolve(""),
  notReady: () => [],
  guard: { guardRoutes: () => {}, isOperator: () => Promise.resolve(true) },
};
const servers: StatusServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

/** The client address that a server sees if a proxy on this machine forwards a request of another client. */
async function seenBehind(trustProxy: readonly string[]): Promise<string> {
  const server = await startStatusServer(
    "127.0.0.1:0",
    { ...VIEWS, trustProxy },
    pino({ level: "silent" }),
    (routes) => void routes.get("/who", ({ ip, protocol }) => `${protocol} ${ip}`),
  );
  servers.push(server);
  const headers = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" };
  return (await fetch(`${server.url}/who`, { headers })).text();
}

it("only a proxy of the configuration may set the client's address", async () => {
  expect(await seenBehind(["127.0.0.0/8"])).toBe("https 203.0.113.9");
  expect(await seenBehind(["10.0.0.0/8"])).toBe("http 127.0.0.1");
  expect(await seenBehind([])).toBe("http 127.0.0.1");
});

it.each([{ network: "10.0.0.0/33" }, { network: "everybody" }, { network: "10.0.0.0/8/8" }])(
  "a configuration that trusts $network is refused by name",
  ({ network }) => {
    const load = () => parseConfig(`server: { trustProxy: ["${network}"] }`, { source: "test", folder: ".", env: {} });
    expect(load).toThrow(/server\.trustProxy.*an address or a network/s);
  },
);
