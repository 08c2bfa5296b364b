import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readersSql } from "../../reports/access/reader-sql.ts";
import { createStoreClient } from "../../runtime/store/client.ts";
import { sqlString } from "../../runtime/store/sql-tokens.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";

const PASSWORD = "a password";
const HASH = createHash("sha256").update(PASSWORD).digest("hex");
/** Statements that this engine cannot run: it has no users. */
const OF_USERS = /^(CREATE|ALTER) (SETTINGS PROFILE|ROLE|QUOTA|USER)|^(GRANT|REVOKE)/;

/** A proxy of a store that keeps statements about users instead of running them. */
async function startStoreWithUsers(store: TestStore, statements: string[]): Promise<Server> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (OF_USERS.test(body)) {
      statements.push(body);
      response.end();
      return;
    }
    const headers = { authorization: request.headers.authorization ?? "" };
    const given = await fetch(`${store.url}${request.url}`, { method: request.method!, headers, body });
    response.writeHead(given.status, { "content-type": given.headers.get("content-type") ?? "text/plain" });
    response.end(Buffer.from(await given.arrayBuffer()));
  }
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

describe("the command migrate", () => {
  let store: TestStore;
  let relay: Server;
  let folder: CommandFolder;
  let config: string;
  const statements: string[] = [];

  beforeAll(async () => {
    store = await startTestStore();
    relay = await startStoreWithUsers(store, statements);
    folder = createCommandFolder();
    folder.write("password", `${PASSWORD}\n`);
    folder.write("empty", "\n");
    const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    const { username, password } = store.user;
    config = folder.write("c.json", {
      store: { kind: "clickhouse", database: "books", clickhouse: { url, username, password } },
    });
  });
  afterAll(async () => {
    relay.closeAllConnections();
    relay.close();
    await folder.dispose();
    await store.stop();
  });

  it.each([
    ["nowhere", "--reader-password nowhere: ENOENT"],
    ["empty", "--reader-password empty: the file has no password"],
  ])("refuses the password of the file %s before it does anything", async (file, why) => {
    const outcome = await folder.run(["migrate", "--config", config, "--reader-password", file]);
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toContain(why);
    expect(statements).toEqual([]);
  });

  it("creates the tables, then the reader that `generate store-readers` describes, with the hash of the password alone", async () => {
    const outcome = await folder.run(["migrate", "--config", config, "--reader-password", "password"]);
    expect(outcome).toMatchObject({ code: 0 });
    expect(outcome.stdout).toMatch(/^applied .*\ngpu_ledger_reader may read, with the password of password\n$/);
    const [reader] = readersSql({ database: "books", cluster: undefined }, []);
    const described = reader!.statements.map((sql) => sql.replace(/'PUT .* HERE'/, `'${HASH}'`));
    const changed = `ALTER USER \`gpu_ledger_reader\` IDENTIFIED WITH sha256_hash BY '${HASH}'`;
    expect(statements).toEqual([...described, changed]);
    const client = createStoreClient({ url: store.url, ...store.user, database: "books" });
    expect(await client.query(`SELECT formatQuerySingleLine(${sqlString(changed)}) AS sql`)).toEqual([
      { sql: changed.replaceAll("`", "") },
    ]);
    await client.close();
  });

  it("creates the reader again without pending migrations, so that a new password is valid from then on", async () => {
    statements.length = 0;
    folder.write("password", "another");
    const outcome = await folder.run(["migrate", "--config", config, "--reader-password", "password"]);
    expect(outcome.stdout).toMatch(/^nothing to do; /);
    expect(statements.at(-1)).toContain(createHash("sha256").update("another").digest("hex"));
  });

  it("changes no users if it is given no password", async () => {
    statements.length = 0;
    expect(await folder.run(["migrate", "--config", config])).toMatchObject({ code: 0 });
    expect(statements).toEqual([]);
  });
});
