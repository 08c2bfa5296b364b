import { PLATFORM } from "../../../domain/owner/owner.ts";
import { amountOf } from "../../../domain/exact/units.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { sqlOf, type ChargesQuestion } from "../../question/question.ts";
import { CONTROLLER, KIND, type Names } from "./properties.ts";

/** The charges of one OpenCost allocation. Amounts are in last units, times in milliseconds since the epoch. */
export interface AllocationSums {
  /** The index of the set, from 0. */
  readonly set: number;
  readonly name: string;
  readonly kind: AllocationKind;
  readonly start: number;
  readonly end: number;
  /** The properties that all charges have in common; empty if they differ. */
  readonly properties: AllocationProperties;
  readonly gpuHours: bigint;
  readonly activeHours: bigint;
  readonly cost: bigint;
}

/** `held` by a workload, `idle` capacity without a holder, `shared` cost that a team pays without a holder. */
export type AllocationKind = "held" | "idle" | "shared";

/** The properties under OpenCost's names. */
export type AllocationProperties = Readonly<Record<(typeof PROPERTIES)[number]["name"], string>>;

const PROPERTIES = [
  { name: "cluster", column: "cluster" },
  { name: "node", column: "node" },
  { name: "namespace", column: "namespace" },
  { name: "controllerKind", column: KIND },
  { name: "controller", column: CONTROLLER },
  { name: "pod", column: "pod" },
  { name: "gpuModel", column: "gpu_model" },
  { name: "labels", column: "toJSONString(labels)" },
] as const;

/** The limit of allocations in one answer. */
export const MOST_ALLOCATIONS = 50_000;

const SAME = PROPERTIES.map(({ column }) => `if(min(${column}) = max(${column}), min(${column}), '')`).join(", ");

type Row = Pick<AllocationSums, "set" | "name" | "kind" | "start" | "end"> &
  Readonly<Record<"gpuHours" | "activeHours" | "cost", string>> & { readonly same: readonly string[] };

/** Reads the sums of charges by name, in each of the sets between the bounds. Fails with a `StoreError`. */
export async function readAllocationSums(
  store: Pick<StoreClient, "query">,
  question: ChargesQuestion,
  asked: {
    readonly names: Names;
    readonly bounds: readonly number[];
    readonly filter: { readonly sql: string; readonly parameters: Readonly<Record<string, string>> };
  },
): Promise<readonly AllocationSums[]> {
  const { names, bounds, filter } = asked;
  const { where, parameters } = sqlOf(question);
  const name = names.columns.length === 0 ? "''" : `arrayStringConcat([${names.columns.join(", ")}], '/')`;
  // Capacity without a holder that the platform pays for is idle. It has no namespace, so filters do not apply to it.
  const rows = await store.query<Row>(
    `SELECT set, kind, if(kind = 'idle', '', named) AS name,
       toFloat64(min(toUnixTimestamp64Milli(from_at))) AS start, toFloat64(max(toUnixTimestamp64Milli(until_at))) AS end,
       [${SAME}] AS same, toString(sum(gpu_hours)) AS gpuHours, toString(sumIf(gpu_hours, state = 'active')) AS activeHours,
       toString(sum(ifNull(effective_cost, 0))) AS cost
     FROM (
       SELECT *, multiIf(holder != '', 'held', team = '${PLATFORM}', 'idle', 'shared') AS kind, ${name} AS named,
         toUInt32(arrayCount(bound -> bound <= toUnixTimestamp64Milli(from_at), {bounds:Array(Int64)}) - 1) AS set
       FROM (SELECT * FROM charges_published WHERE ${where})
       WHERE kind = 'idle' OR (${filter.sql}))
     GROUP BY set, kind, name ORDER BY set, kind, name LIMIT ${MOST_ALLOCATIONS + 1}`,
    { ...parameters, ...names.parameters, ...filter.parameters, bounds },
  );
  return rows.map(({ same, gpuHours, activeHours, cost, ...row }) => ({
    ...row,
    properties: Object.fromEntries(
      PROPERTIES.map((property, index) => [property.name, same[index]!]),
    ) as AllocationProperties,
    gpuHours: amountOf(gpuHours),
    activeHours: amountOf(activeHours),
    cost: amountOf(cost),
  }));
}
