import { sqlIdentifier, sqlString } from "../../runtime/store/sql-tokens.ts";
import { READER_GRANTS, TABLES_OF_TEAMS, TEAM_GRANTS, type ReaderGrant } from "./reader-grants.ts";
import { READER_QUOTA, READER_SETTINGS, type ReaderSetting } from "./reader-limits.ts";

/** The placeholder for the hash of a password. ClickHouse refuses it because it is not a hash. */
const PASSWORD_PLACE = "PUT THE SHA-256 OF A PASSWORD HERE";

/** The store in which readers are created. */
export interface ReaderStore {
  readonly database: string;
  /** The ClickHouse cluster on which the tables and the users are created. */
  readonly cluster: string | undefined;
}

/** Statements that create one user of the database, with limits, and a role with all that it may read. */
export interface ReaderSql {
  /** Without an extension. */
  readonly fileName: string;
  readonly statements: readonly string[];
}

/** The user who reads everything. The name of a team's user has the team as its suffix. */
export const READER = "gpu_ledger_reader";

/** Returns the statements for the reader of everything and for one reader of each team. */
export function readersSql(store: ReaderStore, teams: readonly string[]): readonly ReaderSql[] {
  return [
    { fileName: "reader", statements: statementsOf(store, "", READER_GRANTS, undefined, PASSWORD_PLACE) },
    ...teams.map((team) => ({
      fileName: `reader-${encodeURIComponent(team).replaceAll("'", "%27")}`,
      statements: statementsOf(store, `_${team}`, TEAM_GRANTS, team, PASSWORD_PLACE),
    })),
  ];
}

/**
 * Returns statements that create the reader of everything with a password, or set the reader's password. The password is given by its
 * SHA-256 in hexadecimal digits.
 */
export function readerPasswordSql(store: ReaderStore, passwordHash: string): readonly string[] {
  return [
    ...statementsOf(store, "", READER_GRANTS, undefined, passwordHash),
    `ALTER USER ${sqlIdentifier(READER)}${onCluster(store)} ${identifiedBy(passwordHash)}`,
  ];
}

function statementsOf(
  store: ReaderStore,
  suffix: string,
  grants: readonly ReaderGrant[],
  team: string | undefined,
  passwordHash: string,
): readonly string[] {
  const { database } = store;
  const on = onCluster(store);
  const name = sqlIdentifier(`${READER}${suffix}`);
  const role = sqlIdentifier(`gpu_ledger_reading${suffix}`);
  const qualified = (table: string): string => `${sqlIdentifier(database)}.${table}`;
  const settings = READER_SETTINGS.map(settingSql).join(",\n  ");
  const quota = Object.entries(READER_QUOTA).map(([what, most]) => `${what} = ${most}`);
  const policies =
    team === undefined ? [] : TABLES_OF_TEAMS.flatMap((table) => rowsOf(team, qualified(table), role, on));
  return [
    `CREATE SETTINGS PROFILE IF NOT EXISTS ${name}${on}`,
    `ALTER SETTINGS PROFILE ${name}${on} SETTINGS\n  ${settings}`,
    `CREATE ROLE IF NOT EXISTS ${role}${on}`,
    `CREATE QUOTA OR REPLACE ${name}${on} KEYED BY user_name FOR INTERVAL 1 hour MAX ${quota.join(", ")} TO ${role}`,
    ...policies,
    `REVOKE${on} ALL ON ${qualified("*")} FROM ${role}`,
    ...grants.map(({ table, columns }) => {
      const what = columns === undefined ? "SELECT" : `SELECT(${columns.join(", ")})`;
      return `GRANT${on} ${what} ON ${qualified(table)} TO ${role}`;
    }),
    `CREATE USER IF NOT EXISTS ${name}${on} ${identifiedBy(passwordHash)} SETTINGS PROFILE ${name}`,
    `GRANT${on} ${role} TO ${name}`,
  ];
}

function onCluster({ cluster }: ReaderStore): string {
  return cluster === undefined ? "" : ` ON CLUSTER ${sqlIdentifier(cluster)}`;
}

function identifiedBy(passwordHash: string): string {
  return `IDENTIFIED WITH sha256_hash BY ${sqlString(passwordHash)}`;
}

/**
 * Statements that limit a role to a team's rows. The policy is restrictive: no other policy can open what it closes. With the first policy
 * of a table, ClickHouse may hide its rows from every user without a policy, the program included
 * (`users_without_row_policies_can_read_rows`). So there is one policy for all. The policy and the grants belong to one role: a user
 * without the role has neither.
 */
function rowsOf(team: string, table: string, role: string, on: string): readonly string[] {
  return [
    `CREATE ROW POLICY IF NOT EXISTS gpu_ledger_all${on} ON ${table} USING 1 AS PERMISSIVE TO ALL`,
    `CREATE ROW POLICY OR REPLACE ${role}${on} ON ${table} USING team = ${sqlString(team)} AS RESTRICTIVE TO ${role}`,
  ];
}

function settingSql({ name, value, mayBeLowered }: ReaderSetting): string {
  const text = typeof value === "string" ? sqlString(value) : String(value);
  return `${name} = ${text} ${mayBeLowered === true ? `MIN 1 MAX ${text}` : "CONST"}`;
}
