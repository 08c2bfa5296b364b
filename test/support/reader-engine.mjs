// Runs statements on a store's data as a user with given grants, row filters and settings, and prints the results. chDB has only the
// user `default`, with rights in a file, and no CREATE USER. So this process opens the program's own addon.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadChdbAddon } from "../../dist/runtime/store/embedded/addon.js";

const { data, usersXml, statements } = JSON.parse(readFileSync(0, "utf8"));
const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-reader-"));
const [config, users] = [join(folder, "config.xml"), join(folder, "users.xml")];
writeFileSync(config, `<clickhouse><users_config>${users}</users_config></clickhouse>`);
writeFileSync(users, usersXml);

const addon = loadChdbAddon();
const keeper = addon.CreateConnection(data, [`--config-file=${config}`]);
const answers = [];
for (const sql of statements) {
  const connection = addon.CreateConnection(data, [`--config-file=${config}`]);
  try {
    const { bytes } = await addon.QueryAsyncConnection(connection, sql, "JSONEachRow");
    answers.push({ text: bytes.toString("utf8") });
  } catch (error) {
    answers.push({ error: String(error.message) });
  } finally {
    addon.CloseConnection(connection);
  }
}
addon.CloseConnection(keeper);
rmSync(folder, { recursive: true });
process.stdout.write(JSON.stringify(answers));
