import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A post that a receiver got. */
export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A receiver's answer to a post: a status, no answer, or any response. */
export type ReceiverAnswer = number | "hangs" | ((response: ServerResponse, posted: Posted) => void);

/** A webhook's server. */
export interface Receiver {
  readonly url: string;
  /** All complete posts, in order. */
  readonly posted: readonly Posted[];
  /** The answers to the next posts, in order; the last one is repeated. */
  answers: ReceiverAnswer[];
  /** Resolves when `count` posts have come. */
  until(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on a free port of this machine. It answers every post with 200 by default. */
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
