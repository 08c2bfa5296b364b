import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createStoreClient, type StoreClient } from "../../../../runtime/store/client.ts";

let server: Server;
let store: StoreClient;
afterEach(async () => {
  await store.close();
  server.close();
});

/** A client of a store that ends in the middle of its answer. */
async function storeThatGoes(): Promise<StoreClient> {
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n");
      setTimeout(() => socket.destroy(), 20);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return createStoreClient({ url, username: "u", password: "", database: "d", requestTimeoutMillis: 2_000 });
}

async function all(parts: AsyncIterable<unknown>): Promise<void> {
  for await (const part of parts) void part;
}

it.each<[string, (client: StoreClient) => Promise<unknown>]>([
  ["rows", (client) => client.insertRows("t", ["a"], new Uint8Array([1]))],
  ["objects", (client) => client.insertJson("t", [{ a: 1 }])],
  ["a question", (client) => client.query("SELECT 1")],
  ["portions", (client) => all(client.stream("SELECT 1"))],
  ["bytes", (client) => all(client.bytes("SELECT 1", {}, "CSV"))],
  ["a command", (client) => client.command("SELECT 1")],
])("an error is retryable if the store ends in the middle of its answer: %s", async (_, ask) => {
  store = await storeThatGoes();
  await expect(ask(store)).rejects.toMatchObject({ name: "StoreError", retriable: true });
});
