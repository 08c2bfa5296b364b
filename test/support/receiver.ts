import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What was posted to a receiver. */
export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** How a receiver answers a post: with a status, not at all, or as it likes. */
export type ReceiverAnswer = number | "hangs" | ((response: ServerResponse, posted: Posted) => void);

/** A webhook's server. */
export interface Receiver {
  readonly url: string;
  /** All that came, as far as it came whole. */
  readonly posted: readonly Posted[];
  /** How the next posts are answered, one after another; the last one stays. */
  answers: ReceiverAnswer[];
  /** Resolves when so many came. */
  until(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on a free port of this machine that takes every post with 200 unless it is told otherwise. */
export async function startReceiver(...answers: ReceiverAnswer[]): Promise<Receiver> {
  const posted: Posted[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(parts) };
      posted.push(one);
      for (const look of waiting) look();
      const { answers: given } = receiver;
      const answer = (given.length > 1 ? given.shift() : given[0]) ?? 200;
      if (typeof answer === "function") answer(response, one);
      else if (answer !== "hangs") response.writeHead(answer).end();
    });
    request.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    answers,
    until: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (posted.length >= count) resolve();
        };
        waiting.push(look);
        look();
      }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
