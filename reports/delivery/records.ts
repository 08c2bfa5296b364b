import { randomUUID } from "node:crypto";
import { isoText } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertRecords } from "../../runtime/store/schema/records.ts";

/** The unit that is delivered once: a period of a delivery to a recipient. Times are milliseconds since the epoch. */
export interface Occasion {
  readonly delivery: string;
  readonly recipient: string;
  readonly from: number;
  readonly until: number;
  readonly due: number;
}

/** The events of an occasion; see `runtime/store/migrations/0014_deliveries.sql`. */
export type DeliveryEvent = "waiting" | "started" | "delivered" | "failed" | "stopped" | "given up" | "retried";

/** A record of an event of an occasion. Times are milliseconds since the epoch. */
export interface DeliveryRecord extends Occasion {
  readonly what: DeliveryEvent;
  readonly attempt: number;
  /** The id of the claim of an attempt; the nil UUID if there is none. */
  readonly claim: string;
  readonly at: number;
  readonly leaseUntil: number;
  readonly who: string;
  readonly details: DeliveryDetails;
}

/** The details of an event: the reason of a failure or of a wait, or the delivered file. They contain no secret. */
export type DeliveryDetails = Readonly<Record<string, string | number | null>>;

/** The time since when each schedule is known, by {@link scheduleKey}, milliseconds since the epoch. */
export type KnownSchedules = ReadonlyMap<string, number>;

/** An attempt that belongs to this server alone until its lease ends. */
export interface Claim {
  readonly attempt: number;
  readonly claim: string;
  /** Milliseconds since the epoch. */
  readonly leaseUntil: number;
}

const NO_CLAIM = "00000000-0000-0000-0000-000000000000";

const RECORDS = `
SELECT toString(delivery) AS delivery, toString(recipient) AS recipient,
  toFloat64(toUnixTimestamp64Milli(from_at)) AS from, toFloat64(toUnixTimestamp64Milli(until_at)) AS until,
  toFloat64(toUnixTimestamp64Milli(due_at)) AS due, toString(what) AS what, toFloat64(attempt) AS attempt,
  toString(claim) AS claim, toFloat64(toUnixTimestamp64Milli(at)) AS at,
  toFloat64(toUnixTimestamp64Milli(lease_until)) AS leaseUntil, who, details
FROM deliveries AS row
WHERE row.what != 'scheduled'`;

type RecordRow = Omit<DeliveryRecord, "details"> & { readonly details: string };

/** Returns the events of occasions that became due since a time, oldest first. Fails with a `StoreError`. */
export async function readRecords(store: StoreClient, dueSince: number): Promise<readonly DeliveryRecord[]> {
  const rows = await store.query<RecordRow>(
    `${RECORDS} AND row.due_at >= fromUnixTimestamp64Milli({since:Int64}) ORDER BY row.at`,
    { since: dueSince },
  );
  return rows.map(recordOf);
}

/** Returns the events of one occasion, oldest first. Fails with a `StoreError`. */
export async function readOccasion(store: StoreClient, occasion: Occasion): Promise<readonly DeliveryRecord[]> {
  const { delivery, recipient, from, until } = occasion;
  const rows = await store.query<RecordRow>(
    `${RECORDS} AND row.delivery = {delivery:String} AND row.recipient = {recipient:String}
       AND row.from_at = fromUnixTimestamp64Milli({from:Int64}) AND row.until_at = fromUnixTimestamp64Milli({until:Int64})
     ORDER BY row.at`,
    { delivery, recipient, from, until },
  );
  return rows.map(recordOf);
}

/** Returns what is recorded of the deliveries of a period to any recipient, oldest first. Fails with a `StoreError`. */
export async function readDelivered(
  store: StoreClient,
  { delivery, from, until }: Pick<Occasion, "delivery" | "from" | "until">,
): Promise<readonly DeliveryDetails[]> {
  const rows = await store.query<RecordRow>(
    `${RECORDS} AND row.what = 'delivered' AND row.delivery = {delivery:String}
       AND row.from_at = fromUnixTimestamp64Milli({from:Int64}) AND row.until_at = fromUnixTimestamp64Milli({until:Int64})
     ORDER BY row.at`,
    { delivery, from, until },
  );
  return rows.map((row) => recordOf(row).details);
}

function recordOf({ details, ...row }: RecordRow): DeliveryRecord {
  return { ...row, details: JSON.parse(details) as DeliveryDetails };
}

/** Records an event. Fails with a `StoreError`. */
export async function writeRecord(
  store: StoreClient,
  occasion: Occasion,
  happened: {
    readonly what: DeliveryEvent;
    readonly attempt: number;
    readonly at: number;
    readonly who: string;
    readonly claim?: string;
    readonly leaseUntil?: number;
    readonly why?: string;
    readonly details?: DeliveryDetails;
  },
  options: { readonly onceFor?: string } = {},
): Promise<void> {
  const { what, attempt, at, who, claim = NO_CLAIM, leaseUntil = 0, why = "", details = {} } = happened;
  const row = {
    ...columnsOf(occasion),
    what,
    attempt,
    claim,
    at: isoText(at),
    lease_until: isoText(leaseUntil),
    who,
    why,
    details: JSON.stringify(details),
  };
  await insertRecords(store, "deliveries", [row], options);
}

/**
 * Claims an attempt. Returns undefined if another server has it. The store keeps the first of two claims. A claim counts only if it is read
 * back, alone in its attempt, without a later attempt and without a delivery. Fails with a `StoreError`.
 */
export async function claimAttempt(
  store: StoreClient,
  occasion: Occasion,
  { attempt, at, who, leaseMillis }: { attempt: number; at: number; who: string; leaseMillis: number },
): Promise<Claim | undefined> {
  const { delivery, recipient, from, until } = occasion;
  const claim = { attempt, claim: randomUUID(), leaseUntil: at + leaseMillis };
  const onceFor = [delivery, recipient, from, until, attempt].join(" ");
  await writeRecord(store, occasion, { what: "started", at, who, ...claim }, { onceFor });
  return (await holdsClaim(store, occasion, claim)) ? claim : undefined;
}

/** Returns true if a claim is the only one of its attempt, and no later event exists. Fails with a `StoreError`. */
export async function holdsClaim(
  store: StoreClient,
  occasion: Occasion,
  { attempt, claim }: Pick<Claim, "attempt" | "claim">,
): Promise<boolean> {
  const records = await readOccasion(store, occasion);
  const claims = new Set(records.filter((row) => row.what === "started" && row.attempt === attempt).map(claimOf));
  const isLast = records.every((row) => row.attempt <= attempt && row.what !== "delivered");
  return isLast && claims.size === 1 && claims.has(claim);
}

/** Extends the lease of a claim while the claim holds. Fails with a `StoreError`. */
export async function renewClaim(
  store: StoreClient,
  occasion: Occasion,
  { attempt, claim }: Claim,
  { at, who, leaseMillis }: { at: number; who: string; leaseMillis: number },
): Promise<Claim> {
  const renewed = { attempt, claim, leaseUntil: at + leaseMillis };
  await writeRecord(store, occasion, { what: "started", at, who, ...renewed });
  return renewed;
}

/** Returns the key of a schedule of a delivery to a recipient. */
export function scheduleKey(delivery: string, recipient: string, definition: string): string {
  return [delivery, recipient, definition].join(" ");
}

/** Returns the time since when any server has had each schedule. Fails with a `StoreError`. */
export async function readSchedules(store: StoreClient): Promise<KnownSchedules> {
  const rows = await store.query<{ delivery: string; recipient: string; definition: string; since: number }>(
    `SELECT toString(delivery) AS delivery, toString(recipient) AS recipient, definition,
       toFloat64(toUnixTimestamp64Milli(min(at))) AS since
     FROM deliveries WHERE what = 'scheduled' GROUP BY delivery, recipient, definition`,
  );
  return new Map(rows.map((row) => [scheduleKey(row.delivery, row.recipient, row.definition), row.since]));
}

/** Records that a schedule is known from now on. Fails with a `StoreError`. */
export async function writeSchedule(
  store: StoreClient,
  known: { readonly delivery: string; readonly recipient: string; readonly definition: string; readonly who: string },
  now: number,
): Promise<void> {
  const { delivery, recipient, definition, who } = known;
  const row = { ...columnsOf({ delivery, recipient, from: 0, until: 0, due: 0 }), definition, who };
  await insertRecords(store, "deliveries", [
    { ...row, what: "scheduled", claim: NO_CLAIM, at: isoText(now), details: "{}" },
  ]);
}

function columnsOf({ delivery, recipient, from, until, due }: Occasion): object {
  return { delivery, recipient, from_at: isoText(from), until_at: isoText(until), due_at: isoText(due) };
}

function claimOf({ claim }: DeliveryRecord): string {
  return claim;
}
