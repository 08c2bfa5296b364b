import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import pino from "pino";
import { inject } from "vitest";

import { startEmbeddedStore } from "../../runtime/store/embedded/supervisor.ts";
import type { EmbeddedStore, EmbeddedStoreOptions } from "../../runtime/store/embedded/supervisor.ts";

/** The program of the store's process, from the build that runs before the integration tests. */
export const storeProgram = [process.execPath, resolve("dist/runtime/store/embedded/main.js")];

/** The store that test files share: its address, its user and its folder. */
export interface SharedStore extends Pick<EmbeddedStore, "url" | "user"> {
  readonly folder: string;
}

/** A store in a folder of its own, which is removed with it. */
export interface TestStore extends SharedStore, EmbeddedStore {}

/** The store that was started before the tests. A test file makes databases of its own in it. */
export function sharedStore(): SharedStore {
  return inject("store");
}

/** Starts a store for tests that end, configure or count its process. `stop` ends the process and removes the folder. */
export async function startTestStore(options: Partial<EmbeddedStoreOptions> = {}): Promise<TestStore> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "gpu-ledger-store-")));
  const store = await startEmbeddedStore({
    program: storeProgram,
    logger: pino({ level: "silent" }),
    ...options,
    folder,
  });
  return {
    folder,
    url: store.url,
    version: store.version,
    user: store.user,
    get restarts() {
      return store.restarts;
    },
    get processId() {
      return store.processId;
    },
    async stop() {
      await store.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A raw answer from the connection. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** A request as curl would send it, without decoding and without redirects. */
export interface RawRequest {
  readonly method?: "GET" | "POST";
  readonly path?: string;
  readonly user?: { readonly username: string; readonly password: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Sends one request over a connection of its own. */
export function ask(store: { readonly url: string }, asked: RawRequest): Promise<RawAnswer> {
  return new Promise((settle, fail) => {
    const headers: Record<string, string> = { ...asked.headers };
    if (asked.user !== undefined) {
      const { username, password } = asked.user;
      headers["Authorization"] = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    }
    const { hostname, port } = new URL(store.url);
    // The path is sent unchanged: some tests send an invalid URL.
    const sent = request(
      {
        host: hostname.replace(/^\[|\]$/g, ""),
        port,
        path: asked.path ?? "/",
        method: asked.method ?? "POST",
        headers,
        agent: false,
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.once("error", fail);
        answer.once("end", () => {
          const body = Buffer.concat(chunks);
          settle({ status: answer.statusCode ?? 0, headers: answer.headers, body, text: body.toString("utf8") });
        });
      },
    );
    sent.once("error", fail);
    sent.end(asked.body);
  });
}

/** Runs a statement as the internal user and returns its text. Fails with the body of an error. */
export async function run(store: EmbeddedStore, sql: string): Promise<string> {
  const answer = await ask(store, { user: store.user, body: sql });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.text.trimEnd();
}
