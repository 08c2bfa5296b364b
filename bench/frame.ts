import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

/** The options of a bench with their default values: a number, or several for several measurements (`--gpus 10000,100000`). */
type Options = Readonly<Record<string, number | readonly number[]>>;

/** A measurement with its method. */
export interface Bench {
  readonly name: string;
  readonly about: string;
  readonly options: Options;
  /** Runs the bench with arguments of the command line. */
  run(args: readonly string[]): Promise<void>;
}

/** The means of a bench that end with it. */
export interface Kit {
  /** Returns a new empty folder, which is removed at the end. */
  folder(): string;
  /** Registers work for the end. The work that was registered last begins. */
  atEnd(work: () => unknown): void;
}

/** Defines a bench. `run` gets the options from the command line or the default values. */
export function defineBench<Of extends Options>(bench: {
  readonly name: string;
  readonly about: string;
  readonly options: Of;
  readonly run: (options: Of, kit: Kit) => unknown;
}): Bench {
  const { options, run } = bench;
  const given = Object.fromEntries(Object.keys(options).map((name) => [name, { type: "string" }] as const));
  return {
    ...bench,
    run(args) {
      const { values } = parseArgs({ args: [...args], options: given });
      const numbers = Object.entries(values).map(([name, text]) => {
        const list = String(text).split(",").map(Number);
        if (list.some((each) => !(each >= 0))) throw new Error(`--${name} ${String(text)}: not a number`);
        return [name, typeof options[name] === "number" ? list[0] : list] as const;
      });
      const chosen = { ...options, ...(Object.fromEntries(numbers) as Partial<Of>) };
      return withKit(async (kit) => void (await run(chosen, kit)));
    },
  };
}

/** Lends means that end with the work. */
export async function withKit<Result>(work: (kit: Kit) => Promise<Result>): Promise<Result> {
  const ends: (() => unknown)[] = [];
  const atEnd = (end: () => unknown): void => void ends.unshift(end);
  const folder = (): string => {
    const path = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-"));
    atEnd(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };
  try {
    return await work({ folder, atEnd });
  } finally {
    for (const end of ends) await end();
  }
}

/** The bounds of a figure. */
interface Promised {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** Prints one figure: the median of its runs with the minimum and the maximum, and the promised bound. */
export function report(what: string, runs: number | readonly number[], unit = "", promised: Promised = {}): void {
  const sorted = [runs].flat().toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  const spread = sorted.length > 1 ? ` (${round(sorted[0]!)} to ${round(sorted.at(-1)!)}, ${sorted.length} runs)` : "";
  const { atLeast, atMost } = promised;
  const bound = atLeast === undefined ? (atMost === undefined ? "" : `; at most ${atMost}`) : `; at least ${atLeast}`;
  const isKept = median >= (atLeast ?? -Infinity) && median <= (atMost ?? Infinity);
  const verdict = bound === "" ? "" : `${bound}: ${isKept ? "kept" : "NOT KEPT"}`;
  process.stdout.write(`  ${what}: ${`${round(median)} ${unit}`.trimEnd()}${spread}${verdict}\n`);
}

function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
