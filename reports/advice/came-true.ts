import type { Card } from "../../domain/advice/card.ts";
import { readCard, type CardJson } from "../../domain/advice/card-json.ts";
import { outcomeOf, type DailyCosts, type Outcome } from "../../domain/advice/came-true.ts";
import { amountOf, type Money } from "../../domain/exact/units.ts";
import { DAY_MILLIS, dayOf } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Viewer } from "../access/viewer.ts";

/** A card that ended or was marked as taken, with what it promised and what came. */
export interface CameTrue {
  readonly card: Card;
  /** The first day after the change, milliseconds since the epoch. */
  readonly changedAt: number;
  /** True if a person marked the card; false if the card ended by itself. */
  readonly isMarked: boolean;
  readonly outcome: Outcome;
}

/** The time for which cards are followed after their end. */
const FOLLOWED_DAYS = 60;
const MOST_CARDS = 500;

/** The last card of each id for a workload, with the end of the newest run, and when the id was marked as taken. */
const CARDS = `
WITH (SELECT max(until_at) FROM advice_runs) AS newest
SELECT id, last, taken, card FROM (
  SELECT id, max(until_at) AS last_at, toFloat64(toUnixTimestamp64Milli(last_at)) AS last,
    argMax(concat('{', arrayStringConcat(arrayMap(pair -> concat('"', pair.1, '":', pair.2),
      arrayFilter(pair -> pair.1 != 'hours', JSONExtractKeysAndValuesRaw(card))), ','), '}'), until_at) AS card,
    argMax(owner_saving, until_at) AS saving, argMax(kind, until_at) AS last_kind
  FROM advice_cards_published AS cards
  WHERE until_at >= fromUnixTimestamp64Milli({since:Int64}) AND ({all:Bool} OR team IN {teams:Array(String)})
  GROUP BY id
) AS ended LEFT JOIN (
  SELECT id, if(argMax(what, at) = 'taken', toFloat64(toUnixTimestamp64Milli(max(at))), 0) AS taken FROM advice_marks GROUP BY id
) AS marks USING id
WHERE (last_at < newest OR taken > 0) AND JSONExtractString(card, 'subject', 'workload') != ''
ORDER BY saving DESC, id LIMIT ${MOST_CARDS}`;

/** The daily costs of workloads, as far as the teams of the viewer have paid them. */
const COSTS = `
SELECT toString(cluster) AS cluster, toString(namespace) AS namespace, toString(workload_kind) AS kind, workload,
  toString(any(of_team)) AS team, toString(any(of_type)) AS type,
  groupArray((day, cost)) AS costs
FROM (
  SELECT cluster, namespace, workload_kind, workload, any(team) AS of_team, any(workload_type) AS of_type,
    toUnixTimestamp(toStartOfDay(from_at)) AS day, toString(sum(effective_cost)) AS cost
  FROM workload_charges_summed
  WHERE policy = {policy:String} AND corrects = '' AND is_held AND workload != ''
    AND from_at >= fromUnixTimestamp64Milli({since:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
    AND cluster IN {clusters:Array(String)} AND workload_type IN {types:Array(String)}
    AND ({all:Bool} OR team IN {teams:Array(String)})
  GROUP BY cluster, namespace, workload_kind, workload, day
)
GROUP BY cluster, namespace, kind, workload`;

/**
 * Reads the outcomes of the cards of the last 60 days that ended or were marked as taken, as far as a viewer may see them, the
 * largest promise first. Costs are those of the billing policy. Fails with a `StoreError`.
 */
export async function readCameTrue(
  store: Pick<StoreClient, "query">,
  { policy, now, teams }: { readonly policy: string; readonly now: number; readonly teams: Viewer["teams"] },
): Promise<readonly CameTrue[]> {
  const until = dayOf(now);
  const since = until - FOLLOWED_DAYS * DAY_MILLIS;
  const seen = { teams: teams === "all" ? [] : [...teams], all: teams === "all" };
  const rows = await store.query<{ last: number; taken: number; card: string }>(CARDS, { since, ...seen });
  const cards = rows.map(({ last, taken, card }) => ({
    card: readCard(JSON.parse(card) as CardJson),
    isMarked: taken > 0,
    // A card that ended was changed in the day after its last window.
    changedAt: (taken > 0 ? dayOf(Math.min(taken, last)) : last) + DAY_MILLIS,
  }));
  if (cards.length === 0) return [];
  const first = Math.min(...cards.map(({ card }) => card.window.from));
  const costs = await readCosts(store, {
    policy,
    since: first,
    until,
    clusters: [...new Set(cards.map(({ card }) => card.subject.cluster))],
    types: [...new Set(cards.map(({ card }) => card.subject.type))],
    ...seen,
  });
  const changed = new Set(cards.map(({ card }) => keyOf(card.subject)));
  return cards.flatMap((each): readonly CameTrue[] => {
    const { card, changedAt } = each;
    const { subject, window, saving } = card;
    const similar = costs.filter(
      (other) =>
        other.cluster === subject.cluster &&
        other.team === subject.team &&
        other.type === subject.type &&
        !changed.has(keyOf(other)),
    );
    const own = costs.find((other) => keyOf(other) === keyOf(subject))?.costs ?? new Map<number, Money>();
    const promised = { window, owner: saving.owner, changedAt };
    const outcome = outcomeOf(promised, own, { similar: similar.map((other) => other.costs), until });
    return outcome === undefined ? [] : [{ ...each, outcome }];
  });
}

/** The daily costs of a workload. */
interface WorkloadCosts extends Pick<Card["subject"], "cluster" | "namespace" | "kind" | "workload" | "team" | "type"> {
  readonly costs: DailyCosts;
}

async function readCosts(
  store: Pick<StoreClient, "query">,
  parameters: {
    readonly policy: string;
    readonly since: number;
    readonly until: number;
    /** Of the workloads. */
    readonly clusters: readonly string[];
    readonly types: readonly string[];
    readonly teams: readonly string[];
    /** True if the costs of all teams count. */
    readonly all: boolean;
  },
): Promise<readonly WorkloadCosts[]> {
  type Row = Omit<WorkloadCosts, "costs"> & { readonly costs: readonly (readonly [day: number, cost: string])[] };
  const rows = await store.query<Row>(COSTS, parameters);
  return rows.map(({ costs, ...of }) => ({
    ...of,
    costs: new Map(costs.map(([day, cost]) => [Number(day) * 1000, amountOf<"currency">(cost)])),
  }));
}

function keyOf({
  cluster,
  namespace,
  kind,
  workload,
}: Pick<Card["subject"], "cluster" | "namespace" | "kind" | "workload">): string {
  return JSON.stringify([cluster, namespace, kind, workload]);
}
