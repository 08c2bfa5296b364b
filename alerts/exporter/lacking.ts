import { CATALOG } from "../catalog/catalog.ts";
import { namesOf } from "../series/exporter-names.ts";
import { counterOf } from "./counters.ts";

/** An alert that cannot work on an exporter, and the missing counter. */
export interface LackingAlert {
  readonly alert: string;
  /** The field of DCGM for its counter file. */
  readonly counter: string;
}

/**
 * Returns the alerts that cannot fire for an exporter's GPUs, by the content of its page: canonical columns, and other metrics under the
 * exporter's own name. A counter that the exporter shows only after an event (XIDs) is missing until the first event.
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
