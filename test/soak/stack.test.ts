import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { prepareKafka } from "../support/kafka-broker.ts";
import { followMemory } from "../support/memory-quarters.ts";
import { requirePart } from "../support/parts.ts";
import { startStack, type Stack } from "../support/stack.ts";
import {
  chargedHours,
  expectChargesToAddUp,
  expectMetricsToBeRight,
  expectNothingLost,
} from "../support/stack-truths.ts";
import { MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";

const hasParts = requirePart("prometheus") && requirePart("alertmanager") && (await prepareKafka());
const SOAK_MINUTES = Number(process.env["SOAK_MINUTES"] ?? 60);
const DEMO_HOURS = 7 * 24;

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
    const memory = followMemory(stack);
    for (let minute = 0; minute < SOAK_MINUTES; minute++) {
      await pause(MINUTE);
      memory.measure();
    }
    await expectNothingLost(stack, startedAt, 0);
    await expectChargesToAddUp(stack);
    await expectMetricsToBeRight(stack);
    expect(await memory.growing()).toEqual([]);
  });
});
