import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { startDeadline } from "../../../runtime/deadline.ts";
import { collectGarbage } from "../../support/garbage.ts";

const never = new AbortController().signal;

it("aborts the signal when the time is over, after a garbage collection too", async () => {
  const reasons: unknown[] = [];
  const start = (): void => {
    const { signal } = startDeadline(never, 100);
    signal.addEventListener("abort", () => reasons.push(signal.reason));
  };
  for (let count = 0; count < 10; count++) start();
  await sleep(20);
  collectGarbage();
  await expect.poll(() => reasons).toHaveLength(10);
  expect(reasons[0]).toMatchObject({ name: "TimeoutError" });
});

it("aborts the signal with the other one, and with its reason", () => {
  const other = new AbortController();
  const deadlines = [startDeadline(other.signal, 60_000)];
  other.abort(new Error("gone"));
  deadlines.push(startDeadline(other.signal, 60_000));
  for (const { signal, isOver } of deadlines) {
    expect(signal.reason).toMatchObject({ message: "gone" });
    expect(isOver).toBe(false);
  }
});

it("aborts nothing after its end", async () => {
  const other = new AbortController();
  const deadline = startDeadline(other.signal, 10);
  deadline.end();
  other.abort();
  await sleep(30);
  expect(deadline.signal.aborted).toBe(false);
  expect(deadline.isOver).toBe(false);
});

it("can share its signal with others, without a warning of a leak", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  const other = new AbortController();
  const deadlines = Array.from({ length: 50 }, () => startDeadline(other.signal, 60_000));
  await sleep(20);
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
  for (const { end } of deadlines) end();
  expect(getEventListeners(other.signal, "abort")).toEqual([]);
});
