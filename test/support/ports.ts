import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections (from 32768 on in Linux), which may be taken at any moment. */
const PORTS = { from: 10_240, until: 32_768 };

/** A port of 127.0.0.1 that is free now, for programs that cannot choose a port and report it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.until);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = once(server, "listening").then(
    () => true,
    () => false,
  );
  server.listen(port, "127.0.0.1");
  const isOurs = await listens;
  if (isOurs) await new Promise((resolve) => server.close(resolve));
  return isOurs;
}
