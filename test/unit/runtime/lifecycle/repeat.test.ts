import { setTimeout as pause } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { repeat } from "../../../../runtime/lifecycle/repeat.ts";

it("repeated work continues after a failed run, immediate or later, and reports the failure", async () => {
  const errors: unknown[] = [];
  let turns = 0;
  const work = (): Promise<void> => {
    turns += 1;
    if (turns === 1) throw new Error("at once");
    return turns === 2 ? Promise.reject(new Error("later")) : Promise.resolve();
  };
  const repeated = repeat(5, work, (error) => errors.push(error));
  expect(turns).toBe(1);
  await vi.waitUntil(() => turns >= 4, 90_000);
  await repeated.stop();
  expect(errors).toEqual([new Error("at once"), new Error("later")]);
});

it("runs that come due during another run are skipped, and the end neither waits for a run nor begins one", async () => {
  let [begun, ended] = [0, 0];
  const repeated = repeat(
    5,
    async () => {
      begun += 1;
      await pause(60);
      ended += 1;
    },
    () => {},
  );
  await pause(30);
  await repeated.stop();
  expect([begun, ended]).toEqual([1, 0]);
  await pause(60);
  expect([begun, ended]).toEqual([1, 1]);
});
