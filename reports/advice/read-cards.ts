import { readCard, type CardJson } from "../../domain/advice/card-json.ts";
import { REFUSALS, type Card, type CardKind, type Refusal } from "../../domain/advice/card.ts";
import type { Window } from "../../domain/advice/evidence.ts";
import { amountOf, sum, type Money } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Viewer } from "../access/viewer.ts";
import { IS_DISMISSED, MARK_COLUMNS, markOf, NEWEST_MARKS, type Mark, type MarkRow } from "./marks.ts";

/** A computation of all cards of a window. Times are milliseconds since the epoch. */
export interface AdviceRun {
  readonly id: string;
  readonly window: Window;
  readonly madeAt: number;
  /** The duration of the computation. */
  readonly seconds: number;
  /** The workloads of all teams that were judged, and the number of those without a card, by reason. */
  readonly workloads: number;
  readonly refusals: Readonly<Partial<Record<Refusal, number>>>;
}

/** A stored card with the newest decision about it. */
export interface StoredCard {
  readonly card: Card;
  /** The end of the first window of the unbroken row of windows that have the card, milliseconds since the epoch. */
  readonly since: number;
  readonly mark: Mark | undefined;
}

/** The sums of the cards of a team and a kind. */
export interface AdviceSum {
  readonly team: string;
  readonly kind: CardKind;
  readonly isDismissed: boolean;
  readonly cards: number;
  readonly owner: Money;
  readonly freed: Money;
  readonly organization: Money;
  readonly organizationIfFreedLeave: Money;
}

/** The teams that a viewer may see, and the time at which dismissals are judged, in milliseconds since the epoch. */
export interface Seeing extends Pick<Viewer, "teams"> {
  readonly now: number;
}

/** Which cards of a run are read. */
export interface CardsAsked {
  readonly team?: string | undefined;
  readonly kind?: string | undefined;
  /** True for dismissed cards too. */
  readonly withDismissed?: boolean;
  /** The number of cards, and of larger ones before the first. */
  readonly limit: number;
  readonly offset?: number;
}

type Reader = Pick<StoreClient, "query">;

const RUN = `
SELECT toString(run_id) AS id, toFloat64(toUnixTimestamp64Milli(from_at)) AS from, toFloat64(toUnixTimestamp64Milli(until_at)) AS until,
  toFloat64(toUnixTimestamp64Milli(made_at)) AS madeAt, seconds, workloads, refusals
FROM advice_runs`;
const NEWEST_RUN = "ORDER BY until_at DESC, made_at DESC, id DESC LIMIT 1";

/** A card without the hours of its window, which are most of its bytes. */
const SHORT_CARD = `
concat('{', arrayStringConcat(arrayMap(pair -> concat('"', pair.1, '":', pair.2),
  arrayFilter(pair -> pair.1 != 'hours', JSONExtractKeysAndValuesRaw(card))), ','), '}')`;

const OF_RUN = `
advice_cards LEFT JOIN (${NEWEST_MARKS}) AS marks ON marked = id
WHERE until_at = fromUnixTimestamp64Milli({until:Int64}) AND run_id = {run:UUID}`;

/**
 * Reads the newest run of the latest window, or of the window with the given end (milliseconds since the epoch). Undefined if there is
 * none. Fails with a `StoreError`.
 */
export async function readAdviceRun(store: Reader, until?: number): Promise<AdviceRun | undefined> {
  const where = until === undefined ? "" : "WHERE until_at = fromUnixTimestamp64Milli({until:Int64})";
  const [row] = await store.query<RunRow>(`${RUN} ${where} ${NEWEST_RUN}`, until === undefined ? {} : { until });
  return row === undefined ? undefined : runOf(row);
}

interface RunRow extends Omit<AdviceRun, "window" | "refusals">, Window {
  readonly refusals: string;
}

function runOf({ from, until, refusals, ...run }: RunRow): AdviceRun {
  const counts = JSON.parse(refusals === "" ? "{}" : refusals) as AdviceRun["refusals"];
  return { ...run, window: { from, until }, refusals: counts };
}

/** Returns the reasons for which workloads have no card, with the number of workloads, highest first. */
export function refusalsOf({
  refusals,
}: AdviceRun): readonly { readonly because: string; readonly workloads: number }[] {
  return Object.entries(refusals)
    .map(([because, workloads]) => ({ because: REFUSALS[because as Refusal], workloads }))
    .toSorted((one, other) => other.workloads - one.workloads);
}

/** Reads the sums of a run's cards by team and kind, as far as a viewer may see them. Fails with a `StoreError`. */
export async function readAdviceSums(
  store: Reader,
  run: AdviceRun,
  { teams, now }: Seeing,
): Promise<readonly AdviceSum[]> {
  const seen = seenBy(teams);
  const rows = await store.query<SumRow>(
    `SELECT toString(team) AS team, toString(kind) AS kind, ${IS_DISMISSED} AS hidden, count() AS cards, toString(sum(owner_saving)) AS owner,
       toString(sum(freed_cost)) AS freed, toString(sum(organization_saving)) AS organization,
       toString(sum(organization_saving_if_freed_leave)) AS organizationIfFreedLeave
     FROM ${OF_RUN} ${seen.sql}
     GROUP BY team, kind, hidden ORDER BY team, kind, hidden`,
    { ...keyOf(run), ...seen.parameters, now },
  );
  return rows.map(({ team, kind, hidden, cards, ...amounts }) => ({
    team,
    kind: kind as CardKind,
    isDismissed: hidden === 1,
    cards: Number(cards),
    owner: amountOf(amounts.owner),
    freed: amountOf(amounts.freed),
    organization: amountOf(amounts.organization),
    organizationIfFreedLeave: amountOf(amounts.organizationIfFreedLeave),
  }));
}

interface SumRow extends Readonly<Record<"owner" | "freed" | "organization" | "organizationIfFreedLeave", string>> {
  readonly team: string;
  readonly kind: string;
  readonly hidden: number;
  readonly cards: number;
}

/**
 * Reads cards of a run, as far as a viewer may see them: the card that saves its owner most comes first. The cards have no `hours`.
 * Dismissed cards are left out unless they are asked for. Fails with a `StoreError`.
 */
export async function readAdviceCards(
  store: Reader,
  run: AdviceRun,
  { teams, now }: Seeing,
  { team, kind, withDismissed = false, limit, offset = 0 }: CardsAsked,
): Promise<readonly StoredCard[]> {
  const seen = seenBy(teams);
  const where = [
    ...(team === undefined ? [] : ["AND team = {team:String}"]),
    ...(kind === undefined ? [] : ["AND kind = {kind:String}"]),
    ...(withDismissed ? [] : [`AND NOT ${IS_DISMISSED}`]),
  ];
  const rows = await store.query<CardRow>(
    `SELECT ${SHORT_CARD} AS json, toFloat64(toUnixTimestamp64Milli(since_at)) AS since, ${MARK_COLUMNS}
     FROM ${OF_RUN} ${seen.sql} ${where.join(" ")}
     ORDER BY owner_saving DESC, id LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
    { ...keyOf(run), ...seen.parameters, ...(team && { team }), ...(kind && { kind }), now, limit, offset },
  );
  return rows.map((row) => storedOf(row, teams));
}

/** The cards with the largest savings for their owners, of all cards that are not dismissed. */
export interface LargestCards {
  readonly run: AdviceRun;
  readonly cards: readonly StoredCard[];
  /** The number of all cards; the savings in the window of their owners, and of the organization if freed GPUs leave the fleet. */
  readonly count: number;
  readonly owner: Money;
  readonly organizationIfFreedLeave: Money;
}

/** Reads the largest cards of the newest run; undefined if the viewer may see none. Fails with a `StoreError`. */
export async function readLargestCards(
  store: Reader,
  seeing: Seeing,
  { team, limit }: Pick<CardsAsked, "team" | "limit">,
): Promise<LargestCards | undefined> {
  const run = await readAdviceRun(store);
  if (run === undefined) return undefined;
  const [cards, all] = await Promise.all([
    readAdviceCards(store, run, seeing, { team, limit }),
    readAdviceSums(store, run, seeing),
  ]);
  if (cards.length === 0) return undefined;
  const sums = all.filter((each) => !each.isDismissed && (team === undefined || each.team === team));
  return {
    run,
    cards,
    count: sums.reduce((total, each) => total + each.cards, 0),
    owner: sum(sums.map(({ owner }) => owner)),
    organizationIfFreedLeave: sum(sums.map(({ organizationIfFreedLeave }) => organizationIfFreedLeave)),
  };
}

/**
 * Reads a card with the hours of its window, from the newest run that has it. The run is an earlier one if the latest has no such card.
 * Undefined if the viewer may see no such card. Fails with a `StoreError`.
 */
export async function readAdviceCard(
  store: Reader,
  id: string,
  { teams }: Pick<Seeing, "teams">,
): Promise<{ readonly run: AdviceRun; readonly stored: StoredCard } | undefined> {
  const seen = seenBy(teams);
  const [found] = await store.query<RunRow>(
    `${RUN} WHERE run_id IN (SELECT run_id FROM advice_cards_published WHERE id = {card:String} ${seen.sql}) ${NEWEST_RUN}`,
    { card: id, ...seen.parameters },
  );
  if (found === undefined) return undefined;
  const run = runOf(found);
  const [row] = await store.query<CardRow>(
    `SELECT card AS json, toFloat64(toUnixTimestamp64Milli(since_at)) AS since, ${MARK_COLUMNS} FROM ${OF_RUN} AND id = {card:String}`,
    { ...keyOf(run), card: id },
  );
  return { run, stored: storedOf(row!, teams) };
}

interface CardRow extends MarkRow {
  readonly json: string;
  readonly since: number;
}

/** Returns a card as a viewer may see it: without the lines of other teams that hold parts of the same GPUs. */
function storedOf({ json, since, ...mark }: CardRow, teams: Seeing["teams"]): StoredCard {
  const card = readCard(JSON.parse(json) as CardJson);
  const lines = card.lines.filter(({ team }) => teams === "all" || teams.includes(team));
  return { card: { ...card, lines }, since, mark: markOf(mark) };
}

function keyOf({ id, window }: AdviceRun): { readonly run: string; readonly until: number } {
  return { run: id, until: window.until };
}

/** Returns the condition of the cards that a viewer may see, with its parameters. */
function seenBy(teams: Seeing["teams"]): { readonly sql: string; readonly parameters: object } {
  return teams === "all"
    ? { sql: "", parameters: {} }
    : { sql: "AND team IN {teams:Array(String)}", parameters: { teams } };
}
