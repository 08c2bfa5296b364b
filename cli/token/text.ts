import { stringify } from "yaml";
import { isoText } from "../../domain/time.ts";
import type { MadeToken, StoredToken, TokenRequest } from "../../reports/access/tokens.ts";
import { renderTable } from "../table.ts";

/** A token in a list. Times are ISO 8601. */
export interface TokenRecord {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly teams: readonly string[] | "all";
  readonly state: "valid" | "expired" | "revoked";
  readonly createdAt: string;
  readonly createdBy: string;
  /** `null` if the token does not expire. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
}

/** Returns the store's tokens without their hashes. */
export function tokenRecords(tokens: readonly StoredToken[], now: number): readonly TokenRecord[] {
  return tokens.map(({ id, viewer, createdMillis, createdBy, expiresMillis, revoked }) => ({
    id,
    ...viewer,
    state: revoked !== undefined ? "revoked" : (expiresMillis ?? Infinity) <= now ? "expired" : "valid",
    createdAt: isoText(createdMillis),
    createdBy,
    expiresAt: expiresMillis === undefined ? null : isoText(expiresMillis),
    revokedAt: revoked === undefined ? null : isoText(revoked.millis),
    revokedBy: revoked?.by ?? null,
  }));
}

/** Returns the tokens as a table, or a sentence without any. */
export function tokensText(records: readonly TokenRecord[]): string {
  if (records.length === 0) return "the store has no tokens";
  const rows = records.map(
    ({ id, name, role, teams, state, createdAt, createdBy, expiresAt, revokedAt, revokedBy }) => [
      id,
      name,
      role,
      teams === "all" ? "all" : teams.join(", "),
      revokedAt === null ? state : `revoked by ${revokedBy} at ${revokedAt}`,
      expiresAt ?? "never",
      createdAt,
      createdBy,
    ],
  );
  return renderTable(["id", "name", "role", "teams", "state", "expires", "created", "by"], rows);
}

/** Returns the configuration's entry of a token, with its hash, so that no secret is in a file. */
export function configEntry({ name, role, teams, expiresMillis }: TokenRequest, { hash }: MadeToken): string {
  const entry = {
    name,
    role,
    ...(teams.length === 0 ? {} : { teams }),
    sha256: hash,
    ...(expiresMillis === undefined ? {} : { expires: isoText(expiresMillis) }),
  };
  return stringify({ server: { access: { tokens: [entry] } } }, { lineWidth: 0 });
}

/** Returns a sentence about a new token, without the token itself. */
export function madeText(request: TokenRequest, { id }: MadeToken, isForConfig: boolean): string {
  const { name, role, teams, expiresMillis } = request;
  const of = teams.length === 0 ? role : `${role} of ${teams.join(", ")}`;
  const end = expiresMillis === undefined ? "without an end" : `valid until ${isoText(expiresMillis)}`;
  const where = isForConfig
    ? "The token works when the entry is in the configuration."
    : "The token is shown only once.";
  return `${id}: token of ${name} (${of}), ${end}. ${where}`;
}
