import { ownMegabytes } from "../../bench/process.ts";
import { PROGRAMS, type Stack } from "./stack.ts";

/** The permitted growth of a part from the second quarter to the last: a garbage collector keeps some memory for later. */
const MOST_GROWTH = { ratio: 1.1, megabytes: 24 };

/** Memory of every process of a stack over a run. */
export interface MemoryOfParts {
  /** Measures every process once. */
  measure(): void;
  /** Prints medians of the second and the last quarter, in megabytes, and returns the medians of the parts that have grown. */
  growing(): readonly unknown[];
}

/** Starts the measurement of the running processes. */
export function followMemory(stack: Stack): MemoryOfParts {
  const processes: Readonly<Record<string, number>> = {
    ...Object.fromEntries(PROGRAMS.map((name) => [name, stack.program(name).command.processId])),
    store: stack.embedded.processId!,
    kafka: stack.broker.processId,
    prometheus: stack.prometheus.processId,
    alertmanager: stack.alertmanager.processId,
  };
  const measured = new Map(Object.keys(processes).map((name) => [name, [] as number[]]));
  return {
    measure() {
      for (const [name, id] of Object.entries(processes)) measured.get(name)!.push(ownMegabytes(id));
    },
    growing() {
      const quarters = [...measured].map(([part, of]) => ({ part, ...quartersOf(of) }));
      process.stdout.write(`${quarters.map((each) => JSON.stringify(each)).join("\n")}\n`);
      return quarters.filter(
        ({ second, last }) => last > Math.max(second * MOST_GROWTH.ratio, second + MOST_GROWTH.megabytes),
      );
    },
  };
}

/** Medians of the second quarter and of the last, and the maximum, in megabytes. */
function quartersOf(values: readonly number[]): {
  readonly second: number;
  readonly last: number;
  readonly most: number;
} {
  const quarter = Math.floor(values.length / 4);
  const median = (from: number, until: number): number =>
    Math.round(values.slice(from, until).toSorted((a, b) => a - b)[Math.floor((until - from) / 2)]!);
  return {
    second: median(quarter, 2 * quarter),
    last: median(values.length - quarter, values.length),
    most: Math.round(Math.max(...values)),
  };
}
