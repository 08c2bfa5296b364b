import { expect, it } from "vitest";
import { runChaos } from "../support/chaos.ts";

it("loses and doubles nothing over 100 kills at random moments", async () => {
  const seed = Number(process.env["CHAOS_SEED"] ?? Date.now() % 1_000_000);
  const outcome = await runChaos({ kills: 100, targets: 24, seed });
  process.stdout.write(`chaos: seed ${seed}, ${JSON.stringify(outcome)}\n`);
  expect(outcome.kills).toBe(100);
  expect(outcome.stored).toBeGreaterThan(300);
});
