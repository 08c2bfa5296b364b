import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../../../runtime/config/load.ts";
import { openTls } from "../../../../runtime/tls/port-tls.ts";
import { createReread } from "../../../../runtime/tls/reread.ts";
import { createAuthority, type Authority, type Pair } from "../../../support/certificates.ts";
import { requirePart } from "../../../support/parts.ts";

describe.skipIf(!requirePart("openssl"))("a reading of TLS files", () => {
  let authority: Authority;
  let [old, renewed] = [] as unknown as [Pair, Pair];
  beforeAll(() => {
    authority = createAuthority();
    [old, renewed] = [authority.issue(), authority.issue()];
  });
  afterAll(() => authority.dispose());

  const write = (name: "cert" | "key", text: string): void => writeFileSync(join(authority.folder, `a.${name}`), text);

  /** Returns a function that reads the files and returns the events of this reading. */
  async function reader(): Promise<() => Promise<readonly string[]>> {
    write("cert", old.cert);
    write("key", old.key);
    const source = { source: "test", folder: authority.folder, env: {} };
    const settings = parseConfig("server: { tls: { certFile: a.cert, keyFile: a.key } }", source).server.tls!;
    const events: string[] = [];
    const reread = createReread(settings, (await openTls(settings)).usable, {
      changed: ({ files }) => events.push(files.cert === renewed.cert ? "renewed" : "old"),
      failed: (_, isNew) => events.push(isNew ? "failed anew" : "failed"),
      recovered: () => events.push("recovered"),
    });
    return async () => {
      await reread();
      return events.splice(0);
    };
  }

  it("has no event for files that have not changed", async () => {
    const read = await reader();
    expect([await read(), await read()]).toEqual([[], []]);
  });

  it("does not count files that are in the middle of a change", async () => {
    const read = await reader();
    write("cert", renewed.cert);
    expect(await read()).toEqual([]);
    write("key", renewed.key);
    expect([await read(), await read()]).toEqual([["renewed"], []]);
  });

  it("counts files that cannot be served from their second reading on, each content anew", async () => {
    const read = await reader();
    write("key", renewed.key);
    expect([await read(), await read(), await read()]).toEqual([[], ["failed anew"], ["failed"]]);
    rmSync(join(authority.folder, "a.key"));
    expect([await read(), await read(), await read()]).toEqual([[], ["failed anew"], ["failed"]]);
    write("key", old.key);
    expect([await read(), await read()]).toEqual([["recovered"], []]);
  });
});
