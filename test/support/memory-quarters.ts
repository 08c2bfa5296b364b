import { ownMegabytes } from "../../bench/process.ts";
import { PROGRAMS, type Stack } from "./stack.ts";

/** The permitted growth of a part from the second quarter to the last: a garbage collector keeps some memory for later. */
const MOST_GROWTH = { ratio: 1.1, megabytes: 24 };

const QUARTERS = [0, 1, 2, 3];

/** Memory of every process of a stack over a run. */
export interface MemoryOfParts {
  /** Measures every process once. */
  measure(): void;
  /**
   * Prints medians of all quarters, in megabytes, and returns those of the parts that have grown from the second quarter to the last. Also
   * prints the smallest heap of each quarter: what remains after a garbage collection.
   */
  growing(): Promise<readonly unknown[]>;
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
  const startedAt = Date.now();
  return {
    measure() {
      for (const [name, id] of Object.entries(processes)) measured.get(name)!.push(ownMegabytes(id));
    },
    async growing() {
      const parts = [...measured].map(([part, of]) => ({ part, ...quartersOf(of) }));
      const lines = [...parts, ...(await heapsOf(stack, startedAt))];
      process.stdout.write(`${lines.map((each) => JSON.stringify(each)).join("\n")}\n`);
      return parts.filter(
        ({ medians: [, second, , last] }) =>
          last! > Math.max(second! * MOST_GROWTH.ratio, second! + MOST_GROWTH.megabytes),
      );
    },
  };
}

/** The median of each quarter, and the maximum, in megabytes. */
function quartersOf(values: readonly number[]): { readonly medians: readonly number[]; readonly most: number } {
  const quarter = Math.floor(values.length / 4);
  const medians = QUARTERS.map((index) => {
    const sorted = values.slice(index * quarter, (index + 1) * quarter).toSorted((a, b) => a - b);
    return Math.round(sorted[Math.floor(quarter / 2)]!);
  });
  return { medians, most: Math.round(Math.max(...values)) };
}

/** The smallest heap, and the smallest memory outside of it, of each program in each quarter, in megabytes. */
async function heapsOf(stack: Stack, startedAt: number): Promise<readonly unknown[]> {
  const until = Date.now();
  const quarter = (until - startedAt) / 4;
  const metrics = ["nodejs_heap_size_used_bytes", "nodejs_external_memory_bytes"];
  const least = await Promise.all(
    metrics.map((metric) =>
      stack.prometheus.queryRange(
        `min_over_time(${metric}[${Math.floor(quarter / 1000)}s])`,
        startedAt + quarter,
        until,
        Math.floor(quarter / 1000),
      ),
    ),
  );
  return least.flat().map(({ metric, values }) => ({
    ...metric,
    least: values.map(([, bytes]) => Math.round(Number(bytes) / 2 ** 20)),
  }));
}
