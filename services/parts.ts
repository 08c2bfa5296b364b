import { fork, type ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { superviseChild, type SupervisedChild } from "../runtime/lifecycle/children.ts";
import {
  ASK_METRICS,
  CHILD_GRACE_MILLIS,
  type ChildMetrics,
  type ChildOrder,
  type ChildReport,
} from "./child-messages.ts";

const CHILD_PROGRAM = fileURLToPath(new URL("./child.js", import.meta.url));
/**
 * Flags of V8's heap. The young generation has room, in megabytes, for the objects of one scrape or insert. With the default of 1, which
 * grows to 16, the parts would spend a fifth of their time copying it. The old generation may grow to three times its live size before a
 * collection. Low activity starts no collection: with the defaults a processor had one after every insert.
 */
const V8_FLAGS = ["--min-semi-space-size=16", "--heap-growing-percent=200", "--no-memory-reducer"];
/** The time in which a part must answer with its metrics. */
const METRICS_MILLIS = 3_000;
/** The age from which a report is too old. */
const STALE_MILLIS = 10_000;

/** The parts of a system, each a process of its own that is started again when it dies. */
export interface Parts {
  /** Starts a part. Resolves with its first report. */
  start(order: ChildOrder): Promise<ChildReport>;
  /** Returns the last report of a part; undefined if it has sent none in the last 10 s. */
  fresh(part: string): ChildReport | undefined;
  /** Returns the sentences about parts that are not ready. */
  notReady(): readonly string[];
  /** Requests the metrics of every part. A part that does not answer in time is left out. */
  metrics(): Promise<readonly unknown[]>;
}

/** Creates the parts of a system without any. `onStarted` gets each process; its logs go to `logFile` if there is one. */
export function createParts(options: {
  readonly logger: Logger;
  readonly logFile: number | undefined;
  readonly onStarted: (name: string, child: SupervisedChild) => void;
}): Parts {
  const { logger, logFile, onStarted } = options;
  const reports = new Map<string, ChildReport & { readonly at: number }>();
  const children: SupervisedChild[] = [];
  /** The callbacks that wait for a part's metrics. */
  const waiting = new Map<string, (metrics: unknown) => void>();
  let asking: Promise<readonly unknown[]> | undefined;

  function fresh(part: string): ChildReport | undefined {
    const report = reports.get(part);
    return report === undefined || Date.now() - report.at > STALE_MILLIS ? undefined : report;
  }

  return {
    fresh,
    start: (order) =>
      new Promise((resolve) => {
        const child = superviseChild({
          name: order.role,
          start: () => forkChild(order, logFile),
          onMessage(message) {
            const report = message as ChildReport | ChildMetrics;
            if ("metrics" in report) {
              waiting.get(order.role)?.(report.metrics);
              return;
            }
            reports.set(order.role, { ...report, at: Date.now() });
            resolve(report);
          },
          graceMillis: CHILD_GRACE_MILLIS,
          logger,
        });
        children.push(child);
        onStarted(order.role, child);
      }),
    notReady: () =>
      children.flatMap(({ name }) => {
        if (fresh(name) === undefined) return [`the ${name} has not reported`];
        const reason = reports.get(name)?.notReady;
        return reason === undefined ? [] : [`${name}: ${reason}`];
      }),
    async metrics() {
      asking ??= Promise.all(
        children.map(async ({ name, send }) => {
          const answer = new Promise<unknown>((resolve) => waiting.set(name, resolve));
          send(ASK_METRICS);
          return await Promise.race([answer, sleep(METRICS_MILLIS, undefined, { ref: false })]);
        }),
      ).finally(() => (asking = undefined));
      return (await asking).filter((answer) => answer !== undefined);
    },
  };
}

function forkChild(order: ChildOrder, logFile: number | undefined): ChildProcess {
  const child = fork(CHILD_PROGRAM, [], { stdio: ["ignore", logFile ?? 2, logFile ?? 2, "ipc"], execArgv: V8_FLAGS });
  child.send(order);
  return child;
}
