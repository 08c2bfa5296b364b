import { amountOf, difference, formatAmount, sum } from "../../domain/exact/units.ts";
import { spanJson, type SpanJson } from "../report/json.ts";
import type { Change } from "./read-change.ts";

/** A change for programs, with its first parts. */
export interface ChangeJson extends Omit<Change, "question"> {
  readonly policy: string;
  readonly span: SpanJson;
  readonly comparedWith: SpanJson;
  readonly where: Change["question"]["where"];
  readonly currency: string;
  /** The number of all parts. */
  readonly total: number;
  /** The sum of the parts that are left out, an exact decimal. */
  readonly rest: string;
}

/** Returns a change with its `limit` largest parts, and the sum of the others. */
export function changeJson({ question, parts, ...change }: Change, currency: string, limit: number): ChangeJson {
  const { policy, before, after, where } = question;
  const first = parts.slice(0, limit);
  return {
    policy,
    span: spanJson(after),
    comparedWith: spanJson(before),
    where,
    currency,
    ...change,
    parts: first,
    total: parts.length,
    rest: formatAmount(difference(amountOf(change.change), sum(first.map(({ cost }) => amountOf<"currency">(cost))))),
  };
}
