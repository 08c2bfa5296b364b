import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * The handling of a request by the line: it passes it on, holds its answer back, refuses the connection, cuts it in the middle of the request or
 * before the answer, or answers in place of the store.
 */
export type LineMode = "pass" | "hold" | "refuse" | "cut-request" | "cut-answer" | { readonly answer: string };

/** A TCP line between a client and a store that a test can slow down and break. */
export interface StoreLine {
  readonly url: string;
  mode: LineMode;
  /** The delay of each answer. */
  delayMillis: number;
  /** The number of received parts of requests, as TCP delivers them. */
  readonly parts: number;
  close(): Promise<void>;
}

/** An HTTP answer that closes its connection. */
export function httpAnswer(status: string, body: string, headers: readonly string[] = []): { readonly answer: string } {
  const head = [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, "connection: close", ...headers];
  return { answer: `${head.join("\r\n")}\r\n\r\n${body}` };
}

/** Opens a line to a store's address. The mode also applies to connections that are already open. */
export async function openStoreLine(store: { readonly url: string }): Promise<StoreLine> {
  const { hostname, port } = new URL(store.url);
  const sockets = new Set<Socket>();
  let parts = 0;

  const server = createServer((client) => {
    if (line.mode === "refuse") return void client.destroy();
    const upstream = connect(Number(port), hostname);
    const ends: readonly Socket[] = [client, upstream];
    for (const end of ends) {
      sockets.add(end);
      end.on("error", () => {});
      end.on("close", () => {
        sockets.delete(end);
        for (const other of ends) other.destroy();
      });
    }
    client.on("data", (part: Buffer) => {
      parts += 1;
      const { mode } = line;
      if (typeof mode === "object") client.end(mode.answer);
      else if (mode === "refuse") client.destroy();
      else if (mode === "cut-request") upstream.write(part.subarray(0, part.length >> 1), () => client.destroy());
      else upstream.write(part);
    });
    upstream.on("data", (part: Buffer) => {
      const pass = (): void => {
        if (line.mode === "hold") setTimeout(pass, 20);
        else if (line.mode === "pass") client.write(part);
        else client.destroy();
      };
      if (line.delayMillis > 0) setTimeout(pass, line.delayMillis);
      else pass();
    });
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));

  const line: StoreLine = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: "pass",
    delayMillis: 0,
    get parts() {
      return parts;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((settle) => server.close(() => settle()));
    },
  };
  return line;
}
