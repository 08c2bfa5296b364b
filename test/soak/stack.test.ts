import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ownMegabytes } from "../../bench/process.ts";
import { prepareKafka } from "../support/kafka-broker.ts";
import { requirePart } from "../support/parts.ts";
import { PROGRAMS, startStack, type Stack } from "../support/stack.ts";
import {
  chargedHours,
  expectChargesToAddUp,
  expectMetricsToBeRight,
  expectNothingLost,
} from "../support/stack-truths.ts";

const hasParts = requirePart("prometheus") && requirePart("alertmanager") && (await prepareKafka());
const MINUTE = 60_000;
const SOAK_MINUTES = Number(process.env["SOAK_MINUTES"] ?? 60);
const DEMO_HOURS = 7 * 24;
/** What a part may have grown by from the second quarter to the last: a garbage collector lets some of it lie. */
const MOST_GROWTH = { ratio: 1.1, megabytes: 24 };

/** The whole stack for an hour after its past is charged: `npm run test:soak`. */
describe.skipIf(!hasParts)("the stack of docker-compose.yml over an hour", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({ steady: true });
    await vi.waitUntil(async () => (await chargedHours(stack)) >= DEMO_HOURS, {
      timeout: 15 * MINUTE,
      interval: 5_000,
    });
  }, 20 * MINUTE);
  afterAll(() => stack?.stop());

  it("needs no more memory at its end than at its beginning, and loses nothing", async () => {
    const startedAt = Date.now();
    const processes: Readonly<Record<string, number>> = {
      ...Object.fromEntries(PROGRAMS.map((name) => [name, stack.program(name).command.processId])),
      store: stack.embedded.processId!,
      kafka: stack.broker.processId,
      prometheus: stack.prometheus.processId,
      alertmanager: stack.alertmanager.processId,
    };
    const measured = new Map(Object.keys(processes).map((name) => [name, [] as number[]]));
    for (let minute = 0; minute < SOAK_MINUTES; minute++) {
      await pause(MINUTE);
      for (const [name, id] of Object.entries(processes)) measured.get(name)!.push(ownMegabytes(id));
    }
    const quarters = [...measured].map(([part, of]) => ({ part, ...quartersOf(of) }));
    process.stdout.write(`${quarters.map((each) => JSON.stringify(each)).join("\n")}\n`);
    await expectNothingLost(stack, startedAt, 0);
    await expectChargesToAddUp(stack);
    await expectMetricsToBeRight(stack);
    const growing = quarters.filter(
      ({ second, last }) => last > Math.max(second * MOST_GROWTH.ratio, second + MOST_GROWTH.megabytes),
    );
    expect(growing).toEqual([]);
  });
});

/** Medians of the second quarter and of the last, and the most, in megabytes. */
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
