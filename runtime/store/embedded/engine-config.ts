/**
 * The engine's configuration. Permissions are decided by the engine's own grants, before any text is inspected.
 *
 * chDB runs every connection as the user `default` (its `--user` is ignored, `EXECUTE AS` is switched off), but it reads a users file named
 * in `--config-file`, and applies the grants in it to `default` (tested with chdb 3.4.0). The grants exclude every source outside of the
 * database: FILE, URL, S3, REMOTE, MYSQL and the like, and the table engines that access them. So `file()`, `url()`, `INSERT INTO FUNCTION`
 * and `ENGINE = File` are refused to all users.
 *
 * Grants do not cover `INTO OUTFILE` and `FROM INFILE`, which the adapter refuses to all users, nor the scalar function `file` and the sources
 * of dictionaries, which the program does not use.
 */
import { writeFileSync } from "node:fs";

import type { StoreFolder } from "./store-folder.ts";

const privileges = [
  "SHOW",
  "SELECT",
  "INSERT",
  "ALTER",
  "CREATE DATABASE",
  "CREATE TABLE",
  "CREATE VIEW",
  "CREATE DICTIONARY",
  "CREATE TEMPORARY TABLE",
  "DROP",
  "TRUNCATE",
  "OPTIMIZE",
  "KILL QUERY",
  "BACKUP",
  "dictGet",
  "SYSTEM MERGES",
  "SYSTEM TTL MERGES",
  "SYSTEM RELOAD",
  "SYSTEM FLUSH",
  "SYSTEM VIEWS",
];

const tableEngines = [
  "MergeTree",
  "ReplacingMergeTree",
  "SummingMergeTree",
  "AggregatingMergeTree",
  "CollapsingMergeTree",
  "VersionedCollapsingMergeTree",
  "CoalescingMergeTree",
  "Memory",
  "Null",
  "Log",
  "TinyLog",
  "Join",
  "Set",
  "Buffer",
  "Merge",
  "View",
  "MaterializedView",
  "Dictionary",
  "Atomic",
];

/** Limits of the whole engine. */
export interface EngineLimits {
  /** The most memory that all queries, merges and caches together may take. Beyond it a query fails with code 241. */
  readonly maxMemoryBytes: number;
}

/** Returns the server's configuration as XML. */
export function renderConfig(paths: StoreFolder, limits: EngineLimits): string {
  return [
    "<clickhouse>",
    `  <users_config>${escapeXml(paths.usersFile)}</users_config>`,
    `  <max_server_memory_usage>${limits.maxMemoryBytes}</max_server_memory_usage>`,
    "  <max_server_memory_usage_to_ram_ratio>0.9</max_server_memory_usage_to_ram_ratio>",
    // By default, an idle engine does background work many times per second, which takes a third of a percent of a core. These periods
    // avoid that.
    "  <memory_worker_period_ms>1000</memory_worker_period_ms>",
    "  <asynchronous_metrics_update_period_s>60</asynchronous_metrics_update_period_s>",
    `  <backups><allowed_path>${escapeXml(paths.backups)}/</allowed_path></backups>`,
    "</clickhouse>",
    "",
  ].join("\n");
}

/** Returns the users file as XML: the one user of chDB, without access outside of the database. */
export function renderUsers(): string {
  const grants = [
    `GRANT ${privileges.join(", ")} ON *.*`,
    ...tableEngines.map((name) => `GRANT TABLE ENGINE ON ${name}`),
  ];
  return [
    "<clickhouse>",
    "  <profiles><default></default></profiles>",
    "  <quotas><default></default></quotas>",
    "  <users><default>",
    "    <password></password>",
    "    <networks><ip>::/0</ip></networks>",
    "    <profile>default</profile>",
    "    <quota>default</quota>",
    "    <grants>",
    ...grants.map((grant) => `      <query>${escapeXml(grant)}</query>`),
    "    </grants>",
    "  </default></users>",
    "</clickhouse>",
    "",
  ].join("\n");
}

/** Writes both files. They are written again at every start, so that a release brings its own grants. */
export function writeEngineConfig(paths: StoreFolder, limits: EngineLimits): void {
  writeFileSync(paths.configFile, renderConfig(paths, limits), { mode: 0o600 });
  writeFileSync(paths.usersFile, renderUsers(), { mode: 0o600 });
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
