import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { loadOrCreateUser } from "../../../../../runtime/store/embedded/credentials.ts";
import { renderConfig, renderUsers } from "../../../../../runtime/store/embedded/engine-config.ts";
import { storeFolder } from "../../../../../runtime/store/embedded/store-folder.ts";
import { temporaryFolder } from "../../../../support/folder.ts";

describe("the engine's configuration", () => {
  it("allows no source outside of the database", () => {
    const users = renderUsers();
    for (const source of [
      "FILE",
      "URL",
      "S3",
      "REMOTE",
      "SOURCES",
      "ALL",
      "MYSQL",
      "CREATE FUNCTION",
      "TABLE ENGINE ON File",
      "SHUTDOWN",
    ]) {
      expect(users).not.toMatch(new RegExp(`\\b${source}\\b`));
    }
    expect(users).toContain("GRANT TABLE ENGINE ON ReplacingMergeTree");
  });

  it("is valid XML also if the folder's name has special characters", () => {
    const config = renderConfig(storeFolder("/data/<a & b>"), { maxMemoryBytes: 5 });
    expect(config).toContain("/data/&lt;a &amp; b&gt;/backups/");
    expect(config).toContain("<max_server_memory_usage>5<");
  });
});

describe("the password", () => {
  it("is made once, and is readable by its owner alone", () => {
    const file = join(temporaryFolder("credentials"), "deep", "credentials.json");
    const made = loadOrCreateUser(file);
    expect(loadOrCreateUser(file)).toEqual(made);
    expect(made.password.length).toBeGreaterThanOrEqual(32);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("is that of a former release, whose file has a second user", () => {
    const file = join(temporaryFolder("credentials"), "credentials.json");
    const internal = { username: "gpu_ledger", password: "i".repeat(32) };
    writeFileSync(file, JSON.stringify({ internal, reader: { username: "reader", password: "r".repeat(32) } }));
    expect(loadOrCreateUser(file)).toEqual(internal);
  });

  it("is refused if the file was emptied, and is not silently made again", () => {
    const file = join(temporaryFolder("credentials"), "credentials.json");
    writeFileSync(file, '{"internal":{"username":"gpu_ledger","password":""}}');
    expect(() => loadOrCreateUser(file)).toThrow(/has no user with a password/);
    expect(readFileSync(file, "utf8")).toContain('"password":""');
  });
});
