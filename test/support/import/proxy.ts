import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** The form of a request to Prometheus' API. */
export type Form = URLSearchParams;

/**
 * Starts a proxy in front of a server until the test ends. `answer` can answer a request itself and return true. Returns the address of the
 * proxy.
 */
export async function proxyOf(
  url: string,
  answer: (path: string, form: Form, response: ServerResponse) => boolean,
): Promise<string> {
  const server = createServer((incoming, response) => void handle(incoming, response));
  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const { pathname, search } = new URL(incoming.url!, url);
    const form = new URLSearchParams(search === "" ? body.toString("latin1") : search);
    if (answer(pathname, form, response)) return;
    const { method = "GET", headers } = incoming;
    const passed = request(new URL(incoming.url!, url), { method, headers }, (from) => {
      response.writeHead(from.statusCode!, from.headers);
      from.pipe(response);
    });
    passed.on("error", () => response.destroy());
    passed.end(body);
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
