import {
  compareAmounts,
  divideChange,
  type ChangeCause,
  type ChangeCell,
  type ChangeTerm,
} from "../../domain/change/divide.ts";
import { difference, formatAmount, lastUnits, sum, type Money } from "../../domain/exact/units.ts";
import { groupedBy } from "../../domain/grouped.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { ChargesQuestion } from "../question/question.ts";
import { partBefore, type Span } from "../question/span.ts";
import { readCharged } from "../report/charged.ts";
import { readGroups, type GroupSums } from "../report/groups.ts";
import { fromLines, type ChooseTable } from "../sums/tables.ts";

/** A question about the usage of two spans. */
export interface ChangeQuestion extends Pick<ChargesQuestion, "policy" | "where"> {
  readonly before: Span;
  readonly after: Span;
}

/** A workload, or GPUs without a holder. */
export interface ChangedHolder {
  readonly cluster: string;
  readonly namespace: string;
  readonly workloadKind: string;
  readonly workload: string;
}

/** A part of the change: what one cause has changed for a team and a holder. */
export interface ChangePart extends ChangedHolder {
  readonly team: string;
  readonly cause: ChangeCause;
  /** An exact decimal in the currency, negative if it costs less. */
  readonly cost: string;
}

/** The difference between the charges of two spans, divided by its causes. Amounts are exact decimals in the currency. */
export interface Change {
  readonly question: ChangeQuestion;
  readonly costBefore: string;
  readonly costAfter: string;
  /** The parts sum to it exactly. */
  readonly change: string;
  /** The sum of the parts of each cause, in the order of their amounts. */
  readonly causes: readonly { readonly cause: ChangeCause; readonly cost: string; readonly parts: number }[];
  /** The largest amount first, whatever its sign. */
  readonly parts: readonly ChangePart[];
  /** The beginning of the first charge in ISO 8601 if it is after that of the first span, whose cost is then not known in full; otherwise null. */
  readonly chargedSince: string | null;
}

const HOLDER = ["cluster", "namespace", "workloadKind", "workload"] as const;
/** `price` is the entry of the price book. It is no dimension of reports, and all tables of charges have it. */
const CELL = ["team", ...HOLDER, "gpuModel", "price"] as const;

/** Returns the time that a span is compared with: an equal part of the time before, as far as the span is charged. Fails with a `StoreError`. */
export async function timeBefore(store: Pick<StoreClient, "query">, span: Span): Promise<Span> {
  const charged = await readCharged(store, span);
  return partBefore(span, charged?.hoursUntil ?? span.until);
}

/** Reads the charges of both spans, and divides their difference. Fails with a `StoreError` or a `TooManyGroupsError`. */
export async function readChange(
  store: Pick<StoreClient, "query">,
  question: ChangeQuestion,
  chooseTable: ChooseTable = fromLines,
): Promise<Change> {
  const { before, after, ...of } = question;
  const cellsIn = async (span: Span): Promise<readonly ChangeCell[]> => {
    const [groups] = await readGroups(store, { ...of, kind: "showback", span }, [CELL], chooseTable);
    return groups!.map(cellOf);
  };
  const holdersIn = async (span: Span): Promise<ReadonlySet<string>> => {
    const [groups] = await readGroups(
      store,
      { ...of, kind: "showback", where: of.where.filter(({ dimension }) => dimension !== "team"), span },
      [HOLDER],
      chooseTable,
    );
    return new Set(groups!.map(({ values }) => keyOfHolder(values)));
  };
  const [cells0, cells1, charged] = await Promise.all([cellsIn(before), cellsIn(after), readCharged(store, after)]);
  const isOfTeams = of.where.some(({ dimension }) => dimension === "team");
  const elsewhere = isOfTeams ? { before: await holdersIn(before), after: await holdersIn(after) } : undefined;
  const terms = divideChange(cells0, cells1, elsewhere);
  const costOf = (cells: readonly ChangeCell[]): Money => sum(cells.map(({ cost }) => cost));
  const [costBefore, costAfter] = [costOf(cells0), costOf(cells1)];
  return {
    question,
    costBefore: formatAmount(costBefore),
    costAfter: formatAmount(costAfter),
    change: formatAmount(difference(costAfter, costBefore)),
    causes: byCause(terms),
    parts: terms.map(({ team, holder, cause, cost }) => ({
      team,
      ...holderOf(holder),
      cause,
      cost: formatAmount(cost),
    })),
    chargedSince: charged !== undefined && charged.since > before.from ? new Date(charged.since).toISOString() : null,
  };
}

function cellOf({ values, state, isCorrection, gpuHours, effective }: GroupSums): ChangeCell {
  const [team, ...rest] = values;
  const [model, price] = rest.slice(HOLDER.length);
  return {
    team: team!,
    holder: keyOfHolder(rest.slice(0, HOLDER.length)),
    price: price!,
    model: model!,
    state,
    isCorrection,
    hours: lastUnits(gpuHours),
    cost: lastUnits(effective),
  };
}

/** Returns the key of a holder; empty for GPUs without one. */
function keyOfHolder(values: readonly string[]): string {
  return values[HOLDER.indexOf("workload")] === "" ? "" : JSON.stringify(values);
}

const NOBODY: ChangedHolder = { cluster: "", namespace: "", workloadKind: "", workload: "" };

function holderOf(key: string): ChangedHolder {
  if (key === "") return NOBODY;
  const [cluster, namespace, workloadKind, workload] = JSON.parse(key) as [string, string, string, string];
  return { cluster, namespace, workloadKind, workload };
}

/** Returns the causes with the sums of their terms, the largest amount first. */
function byCause(terms: readonly ChangeTerm[]): Change["causes"] {
  return [...groupedBy(terms, ({ cause }) => cause)]
    .map(([cause, of]) => ({ cause, cost: sum(of.map(({ cost }) => cost)), parts: of.length }))
    .toSorted((one, other) => compareAmounts(one.cost, other.cost))
    .map((each) => ({ ...each, cost: formatAmount(each.cost) }));
}
