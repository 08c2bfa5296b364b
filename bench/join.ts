import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { decodeClusterFact, decodeWorkload, type FactMessage } from "../domain/messages/fact-message.ts";
import { createScrapeDecoder, encodeScrape } from "../domain/messages/scrape-message.ts";
import { createHoldings, type HoldingsIndex } from "../processors/ingest/holdings/holdings.ts";
import { createScrapeRowWriter } from "../processors/ingest/scrape-rows.ts";
import { createJoinStep } from "../processors/ingest/steps/join.ts";
import { NOON } from "../test/support/facts.ts";
import { COLUMNS, createChurn, GPUS, nodeOf, NODES, type BenchNode } from "./held-nodes.ts";
import { report } from "./report.ts";

const INTERVAL_MILLIS = 15_000;
const FACTS_PER_SECOND = 200;
const ROUNDS = 9;
const WARM_UP_ROUNDS = 3;
const BATCH = 100;

/**
 * The work of a processor per message without the store (decode, join, write rows) on one core: 20,000 workloads on 2,500
 * nodes of 8 GPUs. Holders are known by DRA on a fifth of them, by annotations on a fifth, by labels on the others. First while nothing
 * changes, then with 200 facts per second, at a scrape every 15 s: pods finish, are deleted, and return with their name and a new
 * UID. Each fact except every fourth lets its node be joined again.
 */
export function benchJoin(): void {
  const nodes = Array.from({ length: NODES }, (_, number) => nodeOf(number));
  const before = heapMegabytes();
  const holdings = createHoldings();
  const started = process.cpuUsage();
  for (const { facts } of nodes) for (const fact of facts) apply(holdings, fact);
  const filling = cpuMicros(started);
  const facts = nodes.reduce((sum, node) => sum + node.facts.length, 0);
  report("a fact, read and added", [filling / facts], "µs", {});
  report("memory of the index", [heapMegabytes() - before], "MB", {});

  reportRounds(
    "nothing changes",
    measure(nodes, holdings, () => []),
    { atMost: 25 },
  );
  const churn = createChurn(nodes, FACTS_PER_SECOND);
  const perBatch = (FACTS_PER_SECOND * INTERVAL_MILLIS * BATCH) / 1000 / NODES;
  reportRounds(
    `${FACTS_PER_SECOND} facts per second`,
    measure(nodes, holdings, () => churn(perBatch)),
    { atMost: 25 },
  );
}

/** The CPU time of each part, in microseconds per message. */
interface Round {
  readonly decode: number;
  readonly facts: number;
  readonly join: number;
  readonly write: number;
}

function measure(nodes: readonly BenchNode[], holdings: HoldingsIndex, change: () => readonly FactMessage[]): Round[] {
  const decoder = createScrapeDecoder();
  const join = createJoinStep(holdings);
  const writer = createScrapeRowWriter();
  const rounds: Round[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const sum = { decode: 0, facts: 0, join: 0, write: 0 };
    const timed = <Result>(part: keyof Round, run: () => Result): Result => {
      const from = process.cpuUsage();
      const result = run();
      sum[part] += cpuMicros(from) / NODES;
      return result;
    };
    const at = NOON + (round + 1) * INTERVAL_MILLIS;
    for (let from = 0; from < NODES; from += BATCH) {
      const messages = nodes.slice(from, from + BATCH).map(({ stable }) => messageOf(stable, at, round));
      const changes = change();
      const scrapes = timed("decode", () => messages.map((bytes) => decoder.decode(bytes)));
      timed("facts", () => {
        for (const fact of changes) apply(holdings, fact);
      });
      const joined = timed("join", () =>
        scrapes.map((scrape) => {
          if ("invalid" in scrape) throw new Error(scrape.invalid);
          const outcome = join(scrape);
          if (outcome.kind !== "ok") throw new Error(outcome.kind);
          return outcome.value;
        }),
      );
      timed("write", () => {
        for (const one of joined) writer.append(one, { partition: 0, offset: round });
        writer.take();
      });
      const unknown = joined.flatMap(({ holders }) => holders.filter(({ uid }) => uid === "")).length;
      if (unknown > joined.length) throw new Error(`${unknown} rows have no holder`);
    }
    if (round >= WARM_UP_ROUNDS) rounds.push(sum);
  }
  return rounds;
}

function reportRounds(what: string, rounds: readonly Round[], promised: { readonly atMost: number }): void {
  const total = ({ decode, facts, join, write }: Round): number => decode + facts + join + write;
  const percent = (part: (round: Round) => number): number[] => rounds.map((one) => (part(one) / total(one)) * 100);
  report(
    `${what}: the join's part of the CPU per sample`,
    percent(({ join }) => join),
    "%",
    promised,
  );
  report(
    `${what}: with reading and adding the facts`,
    percent(({ facts, join }) => facts + join),
    "%",
    {},
  );
  const median = (part: keyof Round): string =>
    rounds
      .map((one) => one[part])
      .toSorted((a, b) => a - b)
      [Math.floor(rounds.length / 2)]!.toFixed(1);
  process.stdout.write(
    `    µs per message of ${GPUS} GPUs: decode ${median("decode")}, facts ${median("facts")}, join ${median("join")}, rows ${median("write")}\n`,
  );
}

function messageOf(stable: Uint8Array, at: number, round: number): Uint8Array {
  const values = Float64Array.from(
    { length: GPUS * COLUMNS.length },
    (_, i) => ((i * 7919 + round * 104_729) % 1000) / 1000,
  );
  const moment = { epoch: 1, sequence: round, intervalMillis: INTERVAL_MILLIS, durationMicros: 900, dropped: {} };
  return encodeScrape(stable, { ...moment, scrapedAtMillis: at }, values);
}

function apply(holdings: HoldingsIndex, { key, value }: FactMessage): void {
  if (key.includes("Resource")) {
    const fact = decodeClusterFact(value);
    if ("invalid" in fact) throw new Error(fact.invalid);
    holdings.clusterFact(fact);
  } else {
    const fact = decodeWorkload(value);
    if ("invalid" in fact) throw new Error(fact.invalid);
    holdings.workload(fact);
  }
}

function cpuMicros(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

/** Returns the heap after a garbage collection. */
function heapMegabytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed / 1e6;
}
