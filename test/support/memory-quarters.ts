import { ownMegabytes } from "../../bench/measure.ts";
import { PROGRAMS, type Stack } from "./stack.ts";

/** The permitted growth of a part from the second quarter to the last. */
const MOST_GROWTH = { ratio: 1.1, megabytes: 24 };

const QUARTERS = [0, 1, 2, 3];
const MEGABYTE = 2 ** 20;

/** The programs whose live memory Prometheus has: the heap that remains after a garbage collection, and the memory outside of the heap. */
const SCRAPED = ["collect", "process", "process-2", "serve"] as const;
/** Parts that others wrote. They are only printed. */
const OTHERS: readonly string[] = ["prometheus", "alertmanager"];

/** Memory of every process of a stack over a run. */
export interface MemoryOfParts {
  /** Measures every process once. */
  measure(): void;
  /**
   * Prints the memory of each part in each quarter, in megabytes: the median of the process, and for Node programs the least live memory. A
   * process keeps memory that V8 has freed, so a Node program has grown if its live memory has. Returns the parts that have grown from the
   * second quarter to the last.
   */
  growing(): Promise<readonly PartMemory[]>;
}

/** The memory of a part in each quarter of a run, in megabytes. */
export interface PartMemory {
  readonly part: string;
  readonly of: "process" | "live";
  readonly quarters: readonly number[];
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
      const all = [...measured].map(
        ([part, values]) => ({ part, of: "process", quarters: mediansOf(values) }) as const,
      );
      const live = await Promise.all(SCRAPED.map((name) => liveMemory(stack, name, startedAt)));
      process.stdout.write(`${[...all, ...live].map((each) => JSON.stringify(each)).join("\n")}\n`);
      const judged = all.filter(({ part }) => !OTHERS.includes(part) && !SCRAPED.some((name) => name === part));
      return [...judged, ...live].filter(({ quarters: [, second, , last] }) => {
        const most = Math.max(second! * MOST_GROWTH.ratio, second! + MOST_GROWTH.megabytes);
        return last === undefined || last > most;
      });
    },
  };
}

function mediansOf(values: readonly number[]): readonly number[] {
  const quarter = Math.floor(values.length / 4);
  return QUARTERS.map((index) => {
    const sorted = values.slice(index * quarter, (index + 1) * quarter).toSorted((a, b) => a - b);
    return Math.round(sorted[Math.floor(quarter / 2)]!);
  });
}

/** Returns the least heap and the least memory outside of it in each quarter, added up. */
async function liveMemory(stack: Stack, part: (typeof SCRAPED)[number], startedAt: number): Promise<PartMemory> {
  const instance = new URL(stack.program(part).url).host;
  const until = Date.now();
  const seconds = Math.floor((until - startedAt) / 4000);
  const least = (metric: string): string => `min_over_time(${metric}{instance="${instance}"}[${seconds}s])`;
  const sum = `${least("nodejs_heap_size_used_bytes")} + on (instance) ${least("nodejs_external_memory_bytes")}`;
  const quarters = await Promise.all(
    QUARTERS.map(async (index) => {
      const [answer] = await stack.prometheus.query(sum, until - (3 - index) * seconds * 1000);
      return Math.round(Number(answer!.values[0]![1]) / MEGABYTE);
    }),
  );
  return { part, of: "live", quarters };
}
