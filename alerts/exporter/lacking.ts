import { CATALOG } from "../catalog/catalog.ts";
import { namesOf } from "../series/exporter-names.ts";
import { counterOf } from "./counters.ts";

/** An alert that can't work on an exporter, and the counter that would make it. */
export interface LackingAlert {
  readonly alert: string;
  /** The field of DCGM for its counter file. */
  readonly counter: string;
}

/**
 * The alerts that can't fire for an exporter's GPUs, by what its page gives: canonical columns, and other metrics under the
 * exporter's own name. What an exporter counts only as it happens (XIDs) is taken for lacking as long as nothing has.
 */
export function lackingAlerts(given: ReadonlySet<string>): readonly LackingAlert[] {
  const isGiven = (column: string): boolean =>
    given.has(column) || namesOf(column).some(({ names }) => names.some((name) => given.has(name)));
  return CATALOG.flatMap(({ name, counters = [] }) =>
    counters.flatMap((any) => (any.some(isGiven) ? [] : [{ alert: name, counter: counterOf(any[0]!).field }])),
  ).filter(({ alert, counter }, index, all) => {
    const first = all.findIndex((other) => other.alert === alert && other.counter === counter);
    return first === index;
  });
}
